// swift-format-ignore-file
// The parts of Apple's Foundation and CoreFoundation that the library uses and that Linux does not have. With them, the
// library's Apple code is type-checked on Linux (`.ci/apple`). The stub of each CoreFoundation type is the Swift type
// to which it is bridged.
public import Dispatch
public import Foundation
public import FoundationNetworking

public typealias CFTypeRef = AnyObject
public typealias CFData = Data
public typealias CFString = String
public typealias CFArray = [Any]
public typealias CFDictionary = [String: Any]
public typealias CFError = NSError
public typealias CFWriteStream = OutputStream
public typealias CFTypeID = UInt

public func CFGetTypeID(_ value: CFTypeRef?) -> CFTypeID { 0 }
public func CFBooleanGetTypeID() -> CFTypeID { 0 }
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream, _ queue: DispatchQueue?) {}

public typealias OSStatus = Int32

extension Stream {
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?, outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
}

extension URLRequest {
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }
}

extension URLError {
    public enum NetworkUnavailableReason { case cellular, expensive, constrained }
    public var networkUnavailableReason: NetworkUnavailableReason? { nil }
}
