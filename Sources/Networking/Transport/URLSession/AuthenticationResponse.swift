import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How a session responds to an authentication challenge.
enum AuthenticationResponse {
    /// As the system does.
    case systemDefault
    /// With a credential.
    case credential(URLCredential)
    /// Not at all: the 401 or 407 that the server has sent is the response.
    case responseAsReceived
    /// By ending the call.
    case failure(NetworkError)
}
