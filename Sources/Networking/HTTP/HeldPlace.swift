/// The place that a request has in the queues of its service while it is carried.
///
/// A transport that lets a request wait for the answer of another one, which has a place of its own, gives it back at once:
/// `request[option: HeldPlaceOption.self]?.giveBack()`.
public protocol HeldPlace: AnyObject, Sendable {
    /// Gives the place back, unless that has happened.
    func giveBack()
}

/// The place that a request has; nil where it needs none.
public enum HeldPlaceOption: RequestOption {
    /// None.
    public static var defaultOption: (any HeldPlace)? { nil }
}
