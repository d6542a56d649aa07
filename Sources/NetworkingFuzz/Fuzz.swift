import Foundation
import NetworkingFuzzTargets

/// Processes one input. The fuzzer's runtime contains `main`, and calls this function:
///
///     swift build -c release --sanitize fuzzer --product NetworkingFuzz --scratch-path .build/fuzzer
///     export FUZZ_TARGET=set-cookie SWIFT_BACKTRACE=enable=no
///     .build/fuzzer/release/NetworkingFuzz FOLDER -timeout=1 -max_total_time=300
///
/// Without `SWIFT_BACKTRACE`, Swift's own signal handler ends the process before the runtime can store the input. The
/// runtime reads inputs from FOLDER, a copy of `Sources/NetworkingFuzzTargets/Corpus/set-cookie`. It adds each new
/// input that reaches more code than the inputs in FOLDER.
@_cdecl("LLVMFuzzerTestOneInput")
public func processInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let target = FuzzTarget.chosen
    if let violation = target.violation(by: Array(UnsafeBufferPointer(start: bytes, count: count))) {
        FileHandle.standardError.write(Data("\(target.name): \(violation)\n".utf8))
        abort()  // the runtime reports the input
    }
    return 0
}

extension FuzzTarget {
    /// The target that the environment variable `FUZZ_TARGET` names.
    static let chosen: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        if let target = all.first(where: { $0.name == name }) { return target }
        let names = all.map(\.name).joined(separator: " ")
        FileHandle.standardError.write(Data("FUZZ_TARGET: expected one of \(names), found \"\(name)\"\n".utf8))
        exit(2)
    }()
}
