//! Enforces `maxBufferedReplies`, the limit on the unsent bytes of a server. Above the limit the client with the most
//! unsent bytes is cut off first, so that a few clients that do not read do not cost all others their replies.

use h2::Key;

use crate::connection::ConnectionId;
use crate::engine::Core;

impl Core {
    /// Cuts off clients until the server is within the limit again, or until this connection, whose output has grown,
    /// is gone. `grown`: the stream of HTTP/2 whose reply has grown.
    #[cold]
    pub fn make_room(&mut self, id: ConnectionId, grown: Option<Key>) {
        while let Some((connection, server)) = self.connections.with_server(&mut self.servers, id)
            && server.holds_too_much()
        {
            server.stats.dropped += 1;
            let place = connection.transport.place();
            let own = place.as_ref().map_or(id, |place| place.parent);
            let fullest = self.fullest(own);
            let grown = match &place {
                Some(place) => Some(place.key),
                None => grown,
            };
            self.give_way(fullest, grown.filter(|_| fullest == own));
        }
    }

    /// Gives the connection with the most unsent bytes among this one and those that
    /// [may be cut off](Self::gives_way). This one wins ties.
    fn fullest(&self, id: ConnectionId) -> ConnectionId {
        let Some(server) = self.connections.get(id).map(|connection| connection.server) else {
            return id;
        };
        let (mut fullest, mut most) = (id, self.held_by(id));
        for other in self.connections.ids() {
            let Some(connection) = self.connections.get(other) else {
                continue;
            };
            if connection.server != server
                || connection.transport.place().is_some()
                || !self.gives_way(other)
            {
                continue;
            }
            let held = self.held_by(other);
            if held > most {
                (fullest, most) = (other, held);
            }
        }
        fullest
    }
}
