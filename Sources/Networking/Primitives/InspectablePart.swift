/// A part that reports what it is doing to tools such as `NetworkInspector`. The policies, the cache, the session and
/// the outbox are such parts.
///
/// ```swift
/// extension PhotoQueue: InspectablePart {
///     func facts() async -> [(name: String, value: String)] { [("photos that wait", "\(count)")] }
/// }
/// ```
public protocol InspectablePart: Sendable {
    /// What the part is doing now: names and values, in the order in which they are shown. They must not contain
    /// credentials. The method is called on any thread: once a second while a page of the inspector is open, and for
    /// each archive.
    func facts() async -> [(name: String, value: String)]
}
