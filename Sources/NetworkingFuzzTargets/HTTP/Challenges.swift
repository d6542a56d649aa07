import Networking

extension FuzzTarget {
    /// The `WWW-Authenticate` fields. The challenges do not change if they are written and read again, one by one or in
    /// one field.
    static let challenges = FuzzTarget("challenges") { input in
        let headers = HTTPHeaders(input.parts.indices.map { HTTPHeader(.wwwAuthenticate, input.field($0)) })
        let challenges = headers.challenges
        for challenge in challenges {
            try require(Bytes.isToken(challenge.scheme), "\(challenge.scheme.debugDescription) is not a scheme")
            for name in challenge.parameters.keys {
                try require(Bytes.isToken(name) && name == name.lowercased(), "\(name.debugDescription) is not a name")
            }
            try requireSame([challenge])
        }
        try requireSame(challenges)
    }

    private static func requireSame(_ challenges: [HTTPHeaders.Challenge]) throws {
        let texts = challenges.map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }
            let value = challenge.token68 ?? parameters.map { "\($0)=\(quoted($1))" }.joined(separator: ", ")
            return value.isEmpty ? challenge.scheme : "\(challenge.scheme) \(value)"
        }
        let text = texts.joined(separator: ", ")
        let again = HTTPHeaders([HTTPHeader(.wwwAuthenticate, text)]).challenges
        try require(again, equals: challenges, "\(text.debugDescription) is read as different challenges")
    }

    /// Returns a text as a quoted-string (RFC 9110 section 5.6.4).
    static func quoted(_ text: String) -> String {
        let escaped = text.utf8.flatMap { byte -> [UInt8] in
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        return "\"" + String(decoding: escaped, as: UTF8.self) + "\""
    }
}
