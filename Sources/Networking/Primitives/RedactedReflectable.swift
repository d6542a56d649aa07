/// A type whose description and dump contain no secret. The protocol provides a custom mirror, because `dump` otherwise
/// prints the stored properties.
protocol RedactedReflectable: CustomStringConvertible, CustomReflectable {
    /// The description. Default: the name of the type.
    var redactedDescription: String { get }
    /// The members that a dump contains. Default: the description.
    var reflectedMembers: KeyValuePairs<String, Any> { get }
}

extension RedactedReflectable {
    /// The description without secrets: ``redactedDescription``.
    public var description: String { redactedDescription }
    /// A mirror without secrets: its children are ``reflectedMembers``.
    public var customMirror: Mirror { Mirror(self, children: reflectedMembers) }

    var redactedDescription: String { String(describing: Self.self) }
    var reflectedMembers: KeyValuePairs<String, Any> { ["description": redactedDescription] }
}

extension String {
    /// The text with its control characters and line separators escaped (`\n`), so that it is one line of a log.
    var onOneLine: String {
        guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return self }
        return unicodeScalars.map { scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: scalar.escaped(asASCII: true)
            default: String(scalar)
            }
        }.joined()
    }
}
