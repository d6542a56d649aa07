import Foundation

/// The opening handshake of a client (RFC 6455 section 4.1): the fields that it sends, and the check of the response.
package struct WebSocketHandshake: Sendable {
    /// What both sides have agreed on.
    package struct Agreement: Equatable, Sendable {
        /// The subprotocol that the server has chosen; nil if it has chosen none.
        package var subprotocol: String?
        /// How messages are compressed; nil if they are not.
        package var compression: Compression?

        package init() {}
    }

    /// The parameters of `permessage-deflate` (RFC 7692 section 7.1).
    package struct Compression: Equatable, Sendable {
        /// Whether a message of the server may refer to the server's earlier messages.
        package var serverKeepsContext = true
        /// The binary logarithm of the window size that the server supports for decompression.
        package var clientWindowBits = 15

        package init() {}
    }

    /// A random value, whose hash the server returns.
    private let key: String
    private let order: WebSocketOrder

    package init(for order: WebSocketOrder) {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(for: order, key: Data(bytes).base64EncodedString())
    }

    package init(for order: WebSocketOrder, key: String) {
        self.order = order
        self.key = key
    }

    /// The names of the fields that the engine sets.
    package static let ownFields: Set<HTTPHeader.Name> = [
        "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
        "Sec-WebSocket-Extensions", "Sec-WebSocket-Accept",
    ]

    /// The fields of the request.
    var fields: HTTPHeaders {
        var fields: HTTPHeaders = [
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key,
        ]
        if !order.subprotocols.isEmpty {
            fields["Sec-WebSocket-Protocol"] = order.subprotocols.joined(separator: ", ")
        }
        if order.compresses, WebSocketInflater.isAvailable {
            fields["Sec-WebSocket-Extensions"] =
                "permessage-deflate; client_max_window_bits; client_no_context_takeover"
        }
        return fields
    }

    /// Returns the head of the request: its own fields, and those of the handshake.
    func head(of request: HTTPRequest) -> Data {
        let components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        let path = components?.percentEncodedPath ?? ""
        let query = components?.percentEncodedQuery.map { "?" + $0 } ?? ""
        var lines = ["GET \(path.isEmpty ? "/" : path)\(query) HTTP/1.1"]
        if !request.headers.contains(.host) { lines.append("Host: \(request.origin?.authority ?? "")") }
        for field in request.allHeaders { lines.append("\(field.name): \(field.value)") }
        for field in fields { lines.append("\(field.name): \(field.value)") }
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Returns the value of `Sec-WebSocket-Accept` for a key.
    package static func accept(for key: String) -> String {
        Data(SHA1Digest.of(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")).base64EncodedString()
    }

    /// Checks a response with status 101.
    ///
    /// - Throws: The fault, which names the field, what was expected and what was found.
    package func agreement(with headers: HTTPHeaders) throws(WebSocketFault) -> Agreement {
        guard headers.tokens(of: "Upgrade") == ["websocket"] else {
            throw .handshake("Upgrade", "websocket", headers["Upgrade"])
        }
        guard headers.tokens(of: "Connection").contains("upgrade") else {
            throw .handshake("Connection", "Upgrade", headers["Connection"])
        }
        let accept = WebSocketHandshake.accept(for: key)
        guard headers["Sec-WebSocket-Accept"]?.trimmingCharacters(in: .whitespaces) == accept else {
            throw .handshake("Sec-WebSocket-Accept", accept, headers["Sec-WebSocket-Accept"])
        }
        var agreement = Agreement()
        if let chosen = headers["Sec-WebSocket-Protocol"] {
            guard order.subprotocols.contains(chosen) else {
                let offered = order.subprotocols.isEmpty ? "none" : order.subprotocols.joined(separator: " or ")
                throw .handshake("Sec-WebSocket-Protocol", offered, chosen)
            }
            agreement.subprotocol = chosen
        }
        if let extensions = headers["Sec-WebSocket-Extensions"], !extensions.isEmpty {
            agreement.compression = try compression(extensions)
        }
        return agreement
    }

    private func compression(_ extensions: String) throws(WebSocketFault) -> Compression {
        let parts = extensions.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let fault = WebSocketFault.handshake(
            "Sec-WebSocket-Extensions",
            fields["Sec-WebSocket-Extensions"] == nil ? "none" : "valid permessage-deflate", extensions)
        guard parts[0] == "permessage-deflate", fields["Sec-WebSocket-Extensions"] != nil else { throw fault }
        var compression = Compression()
        var known: Set<String> = []
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = pair[0].trimmingCharacters(in: .whitespaces)
            let value = pair.count > 1 ? pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) : nil
            guard known.insert(name).inserted else { throw fault }
            switch (name, value.map(WebSocketHandshake.windowBits)) {
            case ("server_no_context_takeover", nil): compression.serverKeepsContext = false
            case ("client_no_context_takeover", nil): break  // the client never keeps the context
            case ("server_max_window_bits", .some(.some)): break  // the client always has the largest window
            case ("client_max_window_bits", .some(.some(let bits))): compression.clientWindowBits = bits
            default: throw fault
            }
        }
        return compression
    }

    private static func windowBits(_ text: String) -> Int? {
        guard let bits = Int(text), (8...15).contains(bits), text == "\(bits)" else { return nil }
        return bits
    }
}

extension HTTPRequest {
    /// Checks that the request can be a handshake.
    ///
    /// - Throws: ``NetworkError`` of kind ``NetworkError/Kind/invalidRequest``.
    func validateHandshake() throws {
        try NetworkError.require(method == .get, "WebSocket: expected GET, found \(method)")
        try NetworkError.require(
            body.isEmpty, "WebSocket: expected a request without a body, found a request with a body")
        for field in allHeaders where WebSocketHandshake.ownFields.contains(field.name) {
            throw NetworkError(
                .invalidRequest,
                reason: "header \(field.name): it must not be set, because the library derives it from the options")
        }
        for name in parts.webSocket?.subprotocols ?? [] {
            try NetworkError.require(
                HTTPGrammar.isToken(name),
                "WebSocket: expected a token as subprotocol, found \"\(name.onOneLine.prefix(40))\"")
        }
    }
}

extension WebSocketFault {
    fileprivate static func handshake(_ field: String, _ expected: String, _ found: String?) -> WebSocketFault {
        .protocolError("handshake, \(field): expected \(expected), found \((found ?? "none").onOneLine.prefix(200))")
    }
}

extension HTTPHeaders {
    /// Returns the tokens of a list field in lower case.
    fileprivate func tokens(of name: HTTPHeader.Name) -> [String] {
        (self[name] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }
}
