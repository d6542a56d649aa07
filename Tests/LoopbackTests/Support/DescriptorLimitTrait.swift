import Foundation
import Testing

/// Raises the number of descriptors that the process may open. Servers and clients are in the same process, and idle
/// connections stay open, so that a run needs up to 1,600 descriptors; a terminal of macOS allows 256.
struct DescriptorLimitTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        var limit = rlimit()
        if getrlimit(Self.resource, &limit) == 0, limit.rlim_cur < 4_096 {
            limit.rlim_cur = min(4_096, limit.rlim_max)
            _ = setrlimit(Self.resource, &limit)
        }
        try await function()
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}

extension Trait where Self == DescriptorLimitTrait {
    /// Raises the limit for descriptors to 4,096, or to the most that the system allows.
    static var withManyDescriptors: DescriptorLimitTrait { DescriptorLimitTrait() }
}
