import Foundation
import Networking
import NetworkingInspector
import NetworkingTesting

/// Three chapters of the tour: a server that is down, a double tap, and a slow server.
struct Traffic {
    /// The endpoints of a warehouse whose server is unreliable.
    private enum WarehouseEndpoint: Endpoint {
        case stock
        case report(Int)

        var path: EndpointPath {
            switch self {
            case .stock: "stock"
            case .report(let number): "reports/\(number)"
            }
        }
    }

    /// The server of the warehouse, with counters of its requests.
    private final class Warehouse: @unchecked Sendable {  // because of the lock around every variable
        let server: LoopbackServer
        private let lock = NSLock()
        private var isDown = false
        private var requests = 0
        private var atOnce = 0
        private var mostAtOnce = 0

        init() throws {
            server = try LoopbackServer()
            server.route(.get, "/stock") { [self] _ in
                let isDown = lock.withLock {
                    requests += 1
                    return self.isDown
                }
                try await Task.sleep(for: .milliseconds(20))
                return isDown ? LoopbackResponse(.serviceUnavailable) : .text("12 chairs")
            }
            server.route(.get, "/reports/:number") { [self] _ in
                lock.withLock {
                    atOnce += 1
                    mostAtOnce = max(mostAtOnce, atOnce)
                }
                try await Task.sleep(for: .milliseconds(10))
                lock.withLock { atOnce -= 1 }
                return .text("done")
            }
        }

        var seen: (requests: Int, mostAtOnce: Int) { lock.withLock { (requests, mostAtOnce) } }

        func turn(down isDown: Bool) {
            lock.withLock {
                self.isDown = isDown
                requests = 0
            }
        }
    }

    private let ledger: Ledger
    private let warehouse: Warehouse
    private let inspector: NetworkInspector

    /// The number of calls in these chapters, and the number of calls that are expected to fail.
    static let expected = (calls: 200 + 1 + 2 + 40, failures: 200)

    init(_ ledger: Ledger, _ inspector: NetworkInspector) throws {
        self.ledger = ledger
        self.inspector = inspector
        warehouse = try Warehouse()
    }

    func play() async throws {
        try await storm()
        try await doubleTap()
        try await slowBackend()
    }

    /// A server that is down gets a few requests. Then calls end without a request, until one request shows that the
    /// server works again.
    private func storm() async throws {
        let service = service {
            $0.retry = RetryPolicy(retries: 3, backoff: .exponential(first: .milliseconds(5)), jitter: .full)
            $0.retry?.budget = RetryPolicy.Budget()
            $0.circuitBreaker = CircuitBreaker(pause: .milliseconds(200))
        }
        inspector.show(service, as: "warehouse")
        warehouse.turn(down: true)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    _ = await ledger.failure("a server that is down") {
                        try await service.request(WarehouseEndpoint.stock)
                    }
                }
            }
        }
        let asked = warehouse.seen.requests
        ledger.step("200 calls to a server that is down: it received \(asked) requests", isRight: asked <= 80)
        warehouse.turn(down: false)
        try await Task.sleep(for: .milliseconds(250))
        let stock: String = try await ledger.call { try await service.request(WarehouseEndpoint.stock) }
        ledger.step("one request shows that the server works again: \(stock)", isRight: stock == "12 chairs")
    }

    /// Two equal requests at the same time share one transfer.
    private func doubleTap() async throws {
        warehouse.turn(down: false)
        let service = service { $0.duplicates = .always(.join) }
        async let first: String = ledger.call { try await service.request(WarehouseEndpoint.stock) }
        async let second: String = ledger.call { try await service.request(WarehouseEndpoint.stock) }
        let answers = try await [first, second]
        let asked = warehouse.seen.requests
        ledger.step(
            "a double tap: two results, \(asked) request", isRight: answers == ["12 chairs", "12 chairs"] && asked == 1)
    }

    /// A slow server gets at most four requests at a time, regardless of the number of calls.
    private func slowBackend() async throws {
        let service = service { $0.concurrencyLimit = ConcurrencyLimit(4) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { try await ledger.call { try await service.request(WarehouseEndpoint.report(number)) } }
            }
            try await group.waitForAll()
        }
        let most = warehouse.seen.mostAtOnce
        ledger.step("40 reports from a slow server: at most \(most) at a time", isRight: most <= 4)
    }

    private func service(_ configure: (inout NetworkConfiguration) -> Void) -> NetworkService {
        NetworkService(environment: NetworkEnvironment(baseURL: warehouse.server.url)) {
            $0.observers.append(inspector)
            configure(&$0)
        }
    }
}
