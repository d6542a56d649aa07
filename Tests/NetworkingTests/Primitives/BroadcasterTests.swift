import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Broadcaster", .endsInTime)
struct BroadcasterTests {
    @Test("Five observers get three changes in order; an observer with replay gets the current value first")
    func counts() {
        let broadcaster = Broadcaster(0)
        let told = Box<[[Int]]>(Array(repeating: [], count: 6))
        let tokens = (0..<5).map { index in
            broadcaster.observe(on: nil) { value in told.change { $0[index].append(value) } }
        }
        let replaying = broadcaster.observe(replayingCurrent: true, on: nil) { value in
            told.change { $0[5].append(value) }
        }
        for value in 1...3 { broadcaster.publish(value) }
        #expect(told.value == Array(repeating: [1, 2, 3], count: 5) + [[0, 1, 2, 3]])
        for token in tokens + [replaying] { token.cancel() }
    }

    @Test("A token ends its observation when it is cancelled and when it is released")
    func ending() {
        let broadcaster = Broadcaster<Int>()
        let told = Box<[Int]>([])
        var token: ObservationToken? = broadcaster.observe(on: nil) { value in told.change { $0.append(value) } }
        broadcaster.publish(1)
        token?.cancel()
        broadcaster.publish(2)
        token = broadcaster.observe(on: nil) { value in told.change { $0.append(value) } }
        broadcaster.publish(3)
        token = nil
        broadcaster.publish(4)
        #expect(told.value == [1, 3])
        #expect(token == nil)
    }

    @Test("A handler can publish and observe; the values that it publishes are delivered afterwards")
    func reentrant() {
        let broadcaster = Broadcaster<Int>()
        let told = Box<[String]>([])
        let kept = Box<[ObservationToken]>([])
        let first = broadcaster.observe(on: nil) { value in
            told.change { $0.append("a\(value)") }
            if value == 1 {
                broadcaster.publish(2)
                kept.change {
                    $0.append(broadcaster.observe(on: nil) { value in told.change { $0.append("c\(value)") } })
                }
            }
        }
        let second = broadcaster.observe(on: nil) { value in told.change { $0.append("b\(value)") } }
        broadcaster.publish(1)
        broadcaster.publish(3)
        #expect(told.value == ["a1", "b1", "a2", "b2", "a3", "b3", "c3"])
        first.cancel()
        second.cancel()
    }

    @Test("The values are also available as an asynchronous sequence")
    func sequence() async {
        let broadcaster = Broadcaster(0)
        var values = broadcaster.values(replayingCurrent: true).makeAsyncIterator()
        broadcaster.publish(1)
        #expect(await values.next() == 0)
        #expect(await values.next() == 1)
    }

    @Test("A sequence of values ends when its broadcaster is released, and delivers every earlier value")
    func endOfValues() async {
        var broadcaster: Broadcaster<Int>? = Broadcaster()
        let values = broadcaster?.values()
        broadcaster?.publish(1)
        broadcaster?.publish(2)
        broadcaster = nil
        var seen: [Int] = []
        if let values { for await value in values { seen.append(value) } }
        #expect(seen == [1, 2])
    }
}

@Suite("Settlements, pipes and clocks", .endsInTime)
struct WaitingTests {
    @Test("If many tasks settle a settlement, only the first outcome counts, and every waiter gets this outcome")
    func settleOnce() async throws {
        let settlement = Settlement<Int>()
        let wins = Box(0)
        let waiters = (0..<4).map { _ in
            Task { () -> Int in
                let own = Settlement<Int>()
                settlement.observe { own.settle($0) }
                return try await own.value()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { if settlement.settle(.success(number)) { wins.change { $0 += 1 } } }
            }
        }
        #expect(wins.value == 1)
        let winner = try await settlement.value()
        for waiter in waiters { #expect(try await waiter.value == winner) }
    }

    @Test("A cancelled wait ends, and a later `settle(_:)` returns false")
    func cancelledWait() async {
        let settlement = Settlement<Int>()
        let task = Task { try await settlement.value() }
        task.cancel()
        await #expect(throws: Interruption.cancelled) { _ = try await task.value }
        #expect(!settlement.settle(.success(1)))
    }

    @Test("A full byte pipe refuses data, reports when it has room again, keeps the order of its data, and ends")
    func pipe() async throws {
        let rooms = Box(0)
        let pipe = BytePipe(capacity: 4, onRoom: { rooms.change { $0 += 1 } })
        #expect(
            pipe.write(Data([1, 2])) == .taken && pipe.write(Data([3, 4])) == .taken && pipe.write(Data([5])) == .full)
        #expect(try await pipe.next() == Data([1, 2]))
        #expect(rooms.value == 1)
        #expect(pipe.write(Data([5])) == .taken)
        pipe.finish()
        #expect(pipe.write(Data([6])) == .abandoned)
        #expect(try await pipe.next() == Data([3, 4]))
        #expect(try await pipe.next() == Data([5]))
        #expect(try await pipe.next() == nil)
        #expect(try await pipe.next() == nil)
    }

    @Test("A refused writer is notified once, when half of the byte pipe is free, and not after each chunk")
    func halfFree() async throws {
        let rooms = Box(0)
        let pipe = BytePipe(capacity: 4, onRoom: { rooms.change { $0 += 1 } })
        for byte in UInt8(1)...4 { #expect(pipe.write(Data([byte])) == .taken) }
        #expect(pipe.write(Data([5])) == .full)
        var woken: [Int] = []
        for _ in 1...4 {
            _ = try await pipe.next()
            woken.append(rooms.value)
        }
        #expect(woken == [0, 1, 1, 1])
    }

    @Test("A reader that is cancelled loses no bytes, and a pipe that fails throws its error")
    func reader() async throws {
        let pipe = BytePipe(capacity: 4)
        let cancelled = Task { try await pipe.next() }
        cancelled.cancel()
        await #expect(throws: Interruption.cancelled) { _ = try await cancelled.value }
        #expect(pipe.write(Data([1])) == .taken)
        #expect(try await pipe.next() == Data([1]))
        pipe.finish(.failure(UserError.taken))
        await #expect(throws: UserError.taken) { _ = try await pipe.next() }
    }

    @Test("The writer is notified if the reader stops reading, unless the pipe is finished")
    func abandoning() {
        let abandoned = Box(0)
        let pipe = BytePipe(capacity: 4, onAbandon: { abandoned.change { $0 += 1 } })
        pipe.abandon()
        pipe.abandon()
        #expect(abandoned.value == 1 && pipe.write(Data([1])) == .abandoned)
        let finished = BytePipe(capacity: 4, onAbandon: { abandoned.change { $0 += 1 } })
        finished.finish()
        finished.abandon()
        #expect(abandoned.value == 1)
    }

    @Test("Collecting a body stops at its limit")
    func collecting() async throws {
        let pieces = Box([Data([1, 2]), Data([3])])
        let body = IncomingBody(pull: {
            var piece: Data?
            pieces.change { piece = $0.isEmpty ? nil : $0.removeFirst() }
            return piece
        })
        let error = await #expect(throws: NetworkError.self) { _ = try await body.collect(upTo: 2) }
        #expect(error?.kind == .responseTooLarge)
    }

    @Test("A value whose deinitializer reads its broadcaster does not deadlock")
    func askingValue() {
        final class Asking: Sendable {
            let broadcaster: Broadcaster<Asking?>
            init(_ broadcaster: Broadcaster<Asking?>) { self.broadcaster = broadcaster }
            deinit { _ = broadcaster.current }
        }
        let broadcaster = Broadcaster<Asking?>()
        broadcaster.publish(Asking(broadcaster))
        broadcaster.publish(Asking(broadcaster))
        broadcaster.publish(nil)
        if case .some(.none) = broadcaster.current {} else { #expect(Bool(false), "nil was not published") }
    }

    @Test("A manual clock wakes sleepers at their time, and a cancelled sleeper at once")
    func manualClock() async throws {
        let clock = ManualClock()
        let woken = Box<[Int]>([])
        let tasks = [30, 10, 20].map { seconds in
            Task {
                try await clock.networkClock.wait(for: .seconds(seconds))
                woken.change { $0.append(seconds) }
            }
        }
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(20))
        for index in [1, 2] { try await tasks[index].value }
        #expect(Set(woken.value) == [10, 20])
        tasks[0].cancel()
        await #expect(throws: Interruption.cancelled) { try await tasks[0].value }
    }

    /// If each delivery moved all other values, the test would exceed its time limit.
    @Test("A backlog of 400,000 values is delivered in order, in linear time", .timeLimit(.minutes(1)))
    func backlog() {
        let broadcaster = Broadcaster<Int>()
        let seen = Box<[Int]>([])
        let token = broadcaster.observe(on: nil) { value in
            seen.change { $0.append(value) }
            // The observer publishes all other values, which wait until the observer has returned.
            if value == 0 { for next in 1...400_000 { broadcaster.publish(next) } }
        }
        broadcaster.publish(0)
        #expect(seen.value.count == 400_001 && seen.value.last == 400_000)
        token.cancel()
    }
}
