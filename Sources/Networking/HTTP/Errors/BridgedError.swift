import Foundation

/// An error of the library that bridges to `NSError`, for Objective-C and the system's alerts. The domain contains the
/// name of the type: `Networking.NetworkError`.
protocol BridgedError: LocalizedError, CustomNSError {
    var bridgedCode: Int { get }
    var bridgedUserInfo: [String: Any] { get }
}

extension BridgedError {
    /// The error domain: `Networking.` and the name of the type.
    public static var errorDomain: String { "Networking.\(Self.self)" }
    /// The error code of the `NSError`: ``bridgedCode``.
    public var errorCode: Int { bridgedCode }
    /// The user info of the `NSError`: ``bridgedUserInfo``.
    public var errorUserInfo: [String: Any] { bridgedUserInfo }
}
