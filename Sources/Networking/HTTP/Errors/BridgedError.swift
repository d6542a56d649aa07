import Foundation

/// An error of the library as an `NSError`, which Objective-C and the system's alerts read. The domain is the name of
/// the type: `Networking.NetworkError`.
protocol BridgedError: LocalizedError, CustomNSError {
    var bridgedCode: Int { get }
    var bridgedUserInfo: [String: Any] { get }
}

extension BridgedError {
    /// `Networking.` and the name of the type.
    public static var errorDomain: String { "Networking.\(Self.self)" }
    /// ``bridgedCode``.
    public var errorCode: Int { bridgedCode }
    /// ``bridgedUserInfo``.
    public var errorUserInfo: [String: Any] { bridgedUserInfo }
}
