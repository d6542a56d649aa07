/// The place that a request has in the queues of its service while it is carried.
///
/// A transport that lets a request wait for the answer of another one, which has a place of its own, gives it back at once:
/// `request[option: HeldPlaceOption.self]?.giveBack(after: nil)`.
public protocol HeldPlace: AnyObject, Sendable {
    /// Gives the place back, unless that has happened.
    ///
    /// - Parameter outcome: How the request ended for which it was held; nil where nothing was sent in its name.
    func giveBack(after outcome: Result<HTTPResponse, any Error>?)
    /// Takes the place away from the request, for a transfer that goes on without it; nil where it has none any more.
    func handOver() -> (any HeldPlace)?
}

/// The place that a request has; nil where it needs none.
public enum HeldPlaceOption: RequestOption {
    /// None.
    public static var defaultOption: (any HeldPlace)? { nil }
}
