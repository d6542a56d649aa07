/// A type whose description and dump contain no secret. Without a mirror of its own, `dump` prints the stored
/// properties.
protocol RedactedReflectable: CustomStringConvertible, CustomReflectable {
    /// The description. Default: the name of the type.
    var redactedDescription: String { get }
    /// The members that a dump contains. Default: the description.
    var reflectedMembers: KeyValuePairs<String, Any> { get }
}

extension RedactedReflectable {
    /// ``redactedDescription``.
    public var description: String { redactedDescription }
    /// ``reflectedMembers``.
    public var customMirror: Mirror { Mirror(self, children: reflectedMembers) }

    var redactedDescription: String { String(describing: Self.self) }
    var reflectedMembers: KeyValuePairs<String, Any> { ["description": redactedDescription] }
}
