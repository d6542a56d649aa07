import Foundation
import Networking

extension FuzzTarget {
    /// The subprotocols that were offered, one per line, and the fields of a response with status 101. The response is
    /// accepted only if RFC 6455 section 4.1 and RFC 7692 section 7.1 allow that. Otherwise, the response is refused
    /// with a reason of one line.
    static let webSocketHandshakes = FuzzTarget("websocket-handshakes") { input in
        let offered = input.text(0).split(separator: "\n").map(String.init).filter(Bytes.isToken)
        var headers = HTTPHeaders()
        for line in input[1].split(separator: UInt8(ascii: "\n")) {
            let parts = String(decoding: line, as: UTF8.self)
                .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            headers.append(HTTPHeader(HTTPHeader.Name(String(parts[0])), String(parts[1])))
        }
        let compresses = input[2].isEmpty
        let order = WebSocketOrder(subprotocols: offered, compresses: compresses)
        // The key and the answer are those of RFC 6455 section 1.3.
        let handshake = WebSocketHandshake(for: order, key: "dGhlIHNhbXBsZSBub25jZQ==")
        do throws(WebSocketFault) {
            let agreement = try handshake.agreement(with: headers)
            func values(_ name: HTTPHeader.Name) -> [String] {
                headers.values(for: name).flatMap { $0.split(separator: ",") }
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
            let accept = values("Sec-WebSocket-Accept")
            try violation(accept.allSatisfy { $0 == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" } && !accept.isEmpty, "accept")
            try violation(values("Upgrade").contains { $0.lowercased() == "websocket" }, "upgrade")
            try violation(values("Connection").contains { $0.lowercased() == "upgrade" }, "connection")
            if let chosen = agreement.subprotocol { try violation(offered.contains(chosen), "subprotocol") }
            let extensions = values("Sec-WebSocket-Extensions").filter { !$0.isEmpty }
            try violation(extensions.isEmpty == (agreement.compression == nil), "extensions")
            guard let compression = agreement.compression else { return }
            try violation(compresses && extensions.count == 1, "an extension that was not offered")
            try violation((8...15).contains(compression.clientWindowBits), "window")
            try violation(
                extensions[0].contains("server_no_context_takeover") != compression.serverKeepsContext, "context")
        } catch {
            if error.reason.hasPrefix(broken) { throw FuzzViolation(rule: error.reason) }
            try require(
                error.code == .protocolError && error.reason.hasPrefix("handshake, ") && error.reason.utf8.count < 1_500
                    && !error.reason.utf8.contains { $0 < 0x20 },
                "the fault is \(error)")
        }
    }

    private static let broken = "accepted although its field is wrong: "

    private static func violation(_ condition: Bool, _ field: String) throws(WebSocketFault) {
        guard condition else { throw WebSocketFault(.protocolError, broken + field) }
    }
}
