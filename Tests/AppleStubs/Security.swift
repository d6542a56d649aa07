// swift-format-ignore-file
// The part of Apple's Security that the library uses, so that its Apple code can be type-checked on Linux (`.ci/apple`).
public import FoundationNetworking

public final class SecTrust {}

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}
