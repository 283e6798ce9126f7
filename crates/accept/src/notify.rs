//! Tells the service manager how the service is doing (`sd_notify(3)`).

use std::io;
use std::os::unix::net::UnixDatagram;

/// Sends `state`, lines of `NAME=value`, to the datagram socket at `address`: a path, or after `@` an abstract name of
/// Linux.
///
/// # Errors
/// When nobody reads there, or the address is none.
pub fn notify(address: &str, state: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    // Connections are accepted by the thread that calls this.
    socket.set_nonblocking(true)?;
    #[cfg(target_os = "linux")]
    if let Some(name) = address.strip_prefix('@') {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::SocketAddr;
        let address = SocketAddr::from_abstract_name(name)?;
        socket.send_to_addr(state.as_bytes(), &address)?;
        return Ok(());
    }
    socket.send_to(state.as_bytes(), address)?;
    Ok(())
}
