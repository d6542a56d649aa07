#if os(Linux)
    import Foundation
    import Networking
    import Testing

    extension Loopback {
        @Suite("Reachability in a separate network namespace")
        struct NetworkNamespaceTests {
            @Test(
                "A link that goes down and up is noticed, with and without a default route",
                .enabled(if: NetworkNamespace.isAllowed, "this machine allows no network namespaces"))
            func link() async throws {
                let namespace = try #require(NetworkNamespace())
                try namespace.ip("link add v0 type veth peer name v1")
                try namespace.ip("addr add 10.99.0.1/24 dev v0")
                let service = ReachabilityService(
                    probe: namespace, interval: .milliseconds(20), intervalWhileDown: .milliseconds(5))
                var statuses = service.statuses.values().makeAsyncIterator()
                service.startMonitoring()
                #expect(await statuses.next() == .notReachable)
                try namespace.ip("link set v0 up")
                try namespace.ip("link set v1 up")
                #expect(await statuses.next()?.isReachable == true)
                try namespace.ip("route add default via 10.99.0.2")
                try namespace.ip("link set v1 down")
                #expect(await statuses.next() == .notReachable)
                async let isBack = service.waitUntilReachable(atMost: .seconds(30))
                try namespace.ip("link set v1 up")
                #expect(try await isBack)
                #expect(await statuses.next()?.isReachable == true)
                service.stopMonitoring()
            }
        }
    }

    /// A probe with a thread that runs in a new, empty network namespace and reads the interfaces of that namespace.
    private final class NetworkNamespace: ReachabilityProbe, @unchecked Sendable {  // because each box has a lock
        private static let newNetwork: Int32 = 0x4000_0000
        private let jobs = Box<[@Sendable () -> Void]>([])
        private let hasWork = DispatchSemaphore(value: 0)
        private let isOver = Box(false)

        /// Whether the system lets a thread create a network namespace, and the tool `ip` is installed.
        static var isAllowed: Bool { NetworkNamespace() != nil }

        init?() {
            guard Tool(name: "ip").path != nil else { return nil }
            let (jobs, hasWork, isOver) = (jobs, hasWork, isOver)
            let thread = Thread {
                while !isOver.value {
                    hasWork.wait()
                    jobs.change { $0.isEmpty ? nil : $0.removeFirst() }?()
                }
            }
            thread.start()
            // Swift's Glibc module does not export `unshare`, which only Linux has.
            typealias Unshare = @convention(c) (Int32) -> Int32
            guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "unshare") else { return nil }
            let unshare = unsafeBitCast(symbol, to: Unshare.self)
            guard perform({ unshare(NetworkNamespace.newNetwork) }) == 0, (try? ip("link set lo up")) != nil else {
                return nil
            }
        }

        deinit {
            isOver.change { $0 = true }
            hasWork.signal()
        }

        private func perform<Value: Sendable>(_ job: @escaping @Sendable () -> Value) -> Value? {
            let result = Box<Value?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            jobs.change {
                $0.append {
                    let value = job()
                    result.change { $0 = value }
                    isDone.signal()
                }
            }
            hasWork.signal()
            isDone.wait()
            return result.value
        }

        /// Runs `ip` in this namespace. It uses `system`, because Foundation's `Process` never returns on this thread.
        func ip(_ arguments: String) throws {
            let isDone = perform { system("ip \(arguments) >/dev/null 2>&1") == 0 } ?? false
            if !isDone { throw IPFailed(arguments: arguments) }
        }

        private struct IPFailed: Error {
            let arguments: String
        }

        func status() async -> ReachabilityStatus { quickStatus() }

        func quickStatus() -> ReachabilityStatus {
            perform { ReachabilityService.InterfaceProbe().quickStatus() } ?? .unknown
        }
    }
#endif
