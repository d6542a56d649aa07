/// A part that reports its activity to tools such as `NetworkInspector`. The policies, the cache, the session and the
/// outbox are such parts.
///
/// ```swift
/// extension PhotoQueue: InspectablePart {
///     func facts() async -> [(name: String, value: String)] { [("photos that wait", "\(count)")] }
/// }
/// ```
public protocol InspectablePart: Sendable {
    /// What the part is doing now: names and values, in the order in which they are shown. They must not contain
    /// credentials. While a page of the inspector is open, the method is called once a second. It is also called for
    /// each archive. The calls may come from any thread.
    func facts() async -> [(name: String, value: String)]
}
