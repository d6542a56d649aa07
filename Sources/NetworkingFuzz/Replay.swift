import Foundation
import NetworkingFuzzTargets

/// The entry point of a build without the fuzzer's runtime. It processes the files that the arguments name, such as an
/// input that the fuzzer has reported. The exit status is 1 if a file violates a rule or cannot be read.
///
/// SwiftPM gives the entry point of each executable a name of this form, and links the entry point as `main`. With
/// `--sanitize fuzzer`, SwiftPM links the `main` of the runtime instead. There is no `@main` here, because two
/// definitions of `main` do not link.
@_cdecl("NetworkingFuzz_main")
public func replay(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
    let target = FuzzTarget.chosen
    var failures: Int32 = 0
    for file in CommandLine.arguments.dropFirst() {
        guard let input = FileManager.default.contents(atPath: file) else {
            print("\(file): cannot be read")
            failures += 1
            continue
        }
        let violation = target.violation(by: [UInt8](input))
        print("\(file): \(violation ?? "no violation")")
        if violation != nil { failures += 1 }
    }
    return failures == 0 ? 0 : 1
}
