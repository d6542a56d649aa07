#if os(Linux)
    import Foundation
    import NetworkingTesting
    import Testing

    @testable import Networking

    @Suite("Loads of the engine's loops", .endsInTime)
    struct CurlLoadTests {
        /// Loops whose exchanges end as a test decides. A loop keeps the connections that its exchanges have opened.
        private struct Loops {
            let loads: CurlLoads
            var exchanges: [Int] = []
            var running: [Int]
            var connections: [Int]

            init(_ count: Int) {
                loads = CurlLoads(sharedLoops: count, otherLoops: 0, idleConnections: 256)
                running = Array(repeating: 0, count: count)
                connections = running
            }

            mutating func begin(from current: Int? = nil) {
                guard let loop = loads.begin(on: nil, from: current) else { return }
                exchanges.append(loop)
                running[loop] += 1
                connections[loop] = max(connections[loop], running[loop])
            }

            mutating func end(at index: Int) {
                let loop = exchanges.remove(at: index)
                running[loop] -= 1
                loads.end(on: loop)
            }
        }

        @Test("Loops together keep no more connections than exchanges were in progress", arguments: 1...20)
        func connections(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            var loops = Loops(Int.random(in: 2...8, using: &random))
            let most = Int.random(in: 20...200, using: &random)
            for step in 0..<5_000 {
                // Mostly near the limit, where the loops are full, and sometimes far below.
                let isGrowing = step % 1_000 < 800
                let begins = isGrowing == (Int.random(in: 0..<4, using: &random) > 0)
                if loops.exchanges.isEmpty || (loops.exchanges.count < most && begins) {
                    loops.begin()
                } else {
                    loops.end(at: loops.exchanges.indices.randomElement(using: &random) ?? 0)
                }
            }
            while loops.exchanges.count < most { loops.begin() }
            #expect(loops.connections.reduce(0, +) == most)
        }

        @Test(
            "Tasks on the threads of loops open no more connections than exchanges were in progress", arguments: 1...20)
        func connectionsOfTasks(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            var loops = Loops(Int.random(in: 2...8, using: &random))
            let most = Int.random(in: 20...200, using: &random)
            for _ in 0..<most { loops.begin(from: 0) }
            for _ in 0..<5_000 {
                let index = loops.exchanges.indices.randomElement(using: &random) ?? 0
                let loop = loops.exchanges[index]
                loops.end(at: index)
                loops.begin(from: loop)
                #expect(loops.exchanges.last == loop)
            }
            #expect(loops.connections.reduce(0, +) == most)
            #expect(loops.running.allSatisfy { $0 >= most / loops.running.count - 4 })
        }

        @Test("Callers of both kinds together open at most a few connections more")
        func connectionsOfBoth() {
            for count in 2...8 {
                var loops = Loops(count)
                for _ in 0..<24 { loops.begin() }
                while !loops.exchanges.isEmpty { loops.end(at: 0) }
                for _ in 0..<24 { loops.begin(from: 0) }
                #expect(loops.connections.reduce(0, +) <= 24 + 24 * (count - 1) / count)
            }
        }

        @Test("The time in which jobs blocked a loop is not counted by the idle timeout and the connect timeout")
        func blockedTime() {
            for isConnected in [true, false] {
                var activity = CurlActivity(.init(idle: .seconds(2), connect: .seconds(2)))
                activity.begin(at: 1_000_000_000, isConnected: isConnected)
                activity.delay(by: 10_000_000_000)
                guard case .check(let time) = activity.status(at: 12_000_000_000, isHeldBack: false, uploaded: nil)
                else { Issue.record("the timeout has passed"); continue }
                #expect(time == 13_000_000_000)
                guard case .passed = activity.status(at: time, isHeldBack: false, uploaded: nil)
                else { Issue.record("the timeout has not passed"); continue }
            }
        }

        @Test("A task leaves the thread of a loop that is busier than others")
        func leaves() {
            var loops = Loops(2)
            for _ in 0..<8 { loops.begin(from: 0) }
            #expect(loops.running == [4, 4])
            for _ in 0..<2 { loops.end(at: loops.exchanges.count - 1) }
            #expect(loops.running == [4, 2])
            loops.begin(from: 0)
            #expect(loops.running == [4, 3])
        }

        @Test("A few exchanges share the first loop; many are spread over the loops")
        func spread() {
            var loops = Loops(4)
            for _ in 0..<24 { loops.begin() }
            #expect(loops.running == [24, 0, 0, 0])
            for _ in 0..<376 { loops.begin() }
            #expect(loops.running.allSatisfy { (90...120).contains($0) })
        }

        @Test("WebSockets are spread over the loops, and those that are open take no place of an exchange")
        func webSockets() {
            var loops = Loops(3)
            for index in 0..<300 {
                #expect(loops.loads.beginWebSocket() == index % 3)
                loops.loads.end(on: index % 3)
            }
            for _ in 0..<24 { loops.begin() }
            #expect(loops.running == [24, 0, 0])
            for _ in 0..<2 { loops.loads.endWebSocket(on: 1) }
            #expect((0..<2).map { _ in loops.loads.beginWebSocket() } == [1, 1])
        }

        @Test("A drained transport refuses exchanges, and says once that the last one has ended")
        func draining() {
            let loads = CurlLoads(sharedLoops: 2, otherLoops: 1, idleConnections: 256)
            #expect(loads.begin(on: nil) == 0)
            #expect(loads.begin(on: 2) == 2)
            let ends = Locked(0)
            loads.drain { ends.withLock { $0 += 1 } }
            #expect(loads.begin(on: nil) == nil)
            loads.end(on: 0)
            #expect(ends.withLock { $0 } == 0)
            loads.end(on: 2)
            #expect(ends.withLock { $0 } == 1)
        }
    }
#endif
