// swift-format-ignore-file
// The part of Apple's CryptoKit that the library uses. With it, the library's Apple code is type-checked on Linux
// (`.ci/apple`).
public import Foundation

public struct SHA256 {
    public struct Digest: Sequence {
        public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } }
    }

    public init() {}
    public mutating func update(data: some DataProtocol) {}
    public func finalize() -> Digest { Digest() }
}

public enum Insecure {
    public struct SHA1 {
        public struct Digest: Sequence {
            public func makeIterator() -> AnyIterator<UInt8> { AnyIterator { nil } }
        }

        public init() {}
        public mutating func update(data: some DataProtocol) {}
        public func finalize() -> Digest { Digest() }
    }
}
