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
