extension HTTPHeaders {
    /// One challenge of a `WWW-Authenticate` field, [RFC 9110 section
    /// 11.3](https://www.rfc-editor.org/rfc/rfc9110#section-11.3).
    public struct Challenge: Hashable, Sendable {
        /// The scheme, such as `Bearer`, as it was spelled.
        public let scheme: String
        /// The challenge's `token68`, where it has one in place of parameters.
        let token68: String?
        /// The parameters, with their names in lower case; where one stands twice, the first counts.
        public let parameters: [String: String]

        /// Makes a challenge of its parts.
        init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
            self.scheme = scheme
            self.token68 = token68
            self.parameters = parameters
        }

        /// The protection space's name.
        var realm: String? { parameters["realm"] }

        /// The `error` of a bearer challenge (RFC 6750 section 3.1), such as `invalid_token` or `insufficient_scope`.
        var error: String? { parameters["error"] }

        /// Whether the challenge is of that scheme, without regard to case.
        func isScheme(_ scheme: String) -> Bool {
            self.scheme.lowercased() == scheme.lowercased()
        }

        /// Reads every challenge of a field value. Reading stops at what is no challenge and keeps those before it.
        static func parse(_ value: String) -> [HTTPHeaders.Challenge] {
            var scanner = HTTPFieldScanner(value)
            var challenges: [HTTPHeaders.Challenge] = []
            while true {
                skipSeparators(&scanner)
                guard let challenge = parseOne(&scanner) else { return challenges }
                challenges.append(challenge)
            }
        }

        private static func parseOne(_ scanner: inout HTTPFieldScanner) -> HTTPHeaders.Challenge? {
            guard let scheme = scanner.token() else { return nil }
            scanner.skipBlanks()
            if let token = loneToken68(&scanner) { return HTTPHeaders.Challenge(scheme: scheme, token68: token) }
            var parameters: [String: String] = [:]
            while true {
                let start = scanner.position
                skipSeparators(&scanner)
                guard let parameter = scanner.parameter() else {
                    scanner.move(to: start)
                    return HTTPHeaders.Challenge(scheme: scheme, parameters: parameters)
                }
                let name = parameter.name.lowercased()
                parameters[name] = parameters[name] ?? parameter.value
            }
        }

        /// A token68 is one only where the list goes on or ends behind it; `realm=x` and the next scheme are none.
        private static func loneToken68(_ scanner: inout HTTPFieldScanner) -> String? {
            let start = scanner.position
            if let token = scanner.token68() {
                scanner.skipBlanks()
                if scanner.isAtEnd || scanner.next == UInt8(ascii: ",") { return token }
            }
            scanner.move(to: start)
            return nil
        }

        private static func skipSeparators(_ scanner: inout HTTPFieldScanner) {
            repeat { scanner.skipBlanks() } while scanner.skip(",")
        }
    }
}
