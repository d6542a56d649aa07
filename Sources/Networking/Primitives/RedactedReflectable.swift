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

extension Unicode.Scalar {
    /// Whether the scalar is a control character or a line separator.
    var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether the scalar changes the direction of the text after it, so that a text can look like a different text.
    fileprivate var changesDirection: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether the scalar is invisible, so that a text can contain words that nobody sees. False for joiners, because
    /// some scripts need them. True for tags, although the flags of three countries contain them.
    fileprivate var isHidden: Bool {
        switch value {
        case 0xAD, 0x180E, 0x200B, 0x2060...0x2064, 0x3164, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }
}

extension String {
    /// The text in a form that fits on one line of a log and cannot control a terminal. Control characters, line
    /// separators, invisible characters and characters that change the text direction are escaped (`\n`).
    package var onOneLine: String { escapingControls { $0.escaped(asASCII: true) } }

    /// Returns the text after `escape` has replaced its control characters, line separators, invisible characters and
    /// characters that change the text direction.
    func escapingControls(_ escape: (Unicode.Scalar) -> String) -> String {
        guard !utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isControl || scalar.changesDirection || scalar.isHidden {
                text += escape(scalar)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
