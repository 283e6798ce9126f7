//! HTTP/1.1 and HTTP/1.0: from received bytes to requests, and from reply records to reply bytes.

pub mod after_reply;
pub mod interim;
pub mod refuse;
pub mod replies;
pub mod reply_head;
pub mod request_body;
pub mod requests;
