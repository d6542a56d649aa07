import Foundation
import NetworkingTesting
import Testing

@testable import Networking

@Suite("Progress", .endsInTime)
struct ProgressTests {
    private let clock = ManualClock()

    @Test("A fraction is nil, never NaN, if the length is unknown; the fraction of an empty transfer is 1")
    func fraction() {
        #expect(RequestProgress.Transfer(completed: 5).fraction == nil)
        #expect(RequestProgress.Transfer(completed: 5, total: 10).fraction == 0.5)
        #expect(RequestProgress.Transfer(completed: 0, total: 0).fraction == 1)
        #expect(RequestProgress.Transfer(completed: 50, total: 200).description == "50 of 200 bytes (25 %)")
        #expect(RequestProgress.Transfer(completed: 50).description == "50 bytes")
    }

    @Test("Progress continues across attempts and never decreases")
    func overAttempts() {
        let meter = RequestProgress.Meter(clock: clock.networkClock)
        meter.beginUpload(of: 100)
        meter.noteSent(60)
        meter.beginUpload(of: 100)
        meter.noteSent(30)
        #expect(meter.current.upload == RequestProgress.Transfer(completed: 60, total: 100))
        meter.noteSent(50)
        #expect(meter.current.upload.completed == 80)
        meter.beginDownload(at: 0, of: nil)
        meter.noteReceived(7)
        meter.beginDownload(at: 7, of: 20)
        meter.noteReceived(3)
        #expect(meter.current.download == RequestProgress.Transfer(completed: 10, total: 20))
        meter.beginDownload(at: 0, of: 5)
        #expect(meter.current.download.fraction == 1, "the fraction is at most 1, even if the new total is smaller")
    }

    @Test("`bytesPerSecond` is nil until the speed can be measured, and then follows the speed of the transfer")
    func rate() {
        let meter = RequestProgress.Meter(clock: clock.networkClock)
        meter.beginDownload(at: 0, of: 1_000)
        meter.noteReceived(100)
        #expect(meter.current.download.bytesPerSecond == nil)
        clock.advance(by: .seconds(1))
        meter.noteReceived(100)
        #expect(meter.current.download.bytesPerSecond == 100)
        clock.advance(by: .milliseconds(500))
        meter.noteReceived(200)
        #expect(meter.current.download.bytesPerSecond == 280)
    }

    @Test("A slow queue gets only the newest progress; a late observer gets the newest progress at once")
    func newest() async {
        let meter = RequestProgress.Meter(clock: clock.networkClock)
        let queue = DispatchQueue(label: "slow")
        let seen = Seen()
        queue.suspend()
        meter.observe(on: queue) { seen.add($0.upload.completed) }
        meter.beginUpload(of: 1_000)
        for _ in 0..<1_000 { meter.noteSent(1) }
        queue.resume()
        queue.sync {}
        #expect(seen.all == [1_000])
        meter.observe(on: queue) { seen.add(-$0.upload.completed) }
        queue.sync {}
        #expect(seen.all == [1_000, -1_000])
        meter.finish()
        meter.noteSent(1)
        queue.sync {}
        #expect(seen.all == [1_000, -1_000], "updates end with the call")
    }

    @Test("An observer gets the progress, even if the call ends while the observer is added")
    func observerAtTheEnd() {
        let queue = DispatchQueue(label: "observers")
        for _ in 0..<20_000 {
            let meter = RequestProgress.Meter(clock: clock.networkClock)
            let seen = Seen()
            meter.noteReceived(7)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { meter.observe(on: queue) { seen.add($0.download.completed) } } else { meter.finish() }
            }
            queue.sync {}
            #expect(seen.all == [7])
        }
    }

    @Test("The sequence keeps the newest value and ends with the call")
    func sequence() async {
        let meter = RequestProgress.Meter(clock: clock.networkClock)
        let values = meter.values
        meter.beginUpload(of: 3)
        for _ in 0..<3 { meter.noteSent(1) }
        meter.finish()
        var seen: [Int64] = []
        for await value in values { seen.append(value.upload.completed) }
        #expect(seen == [3])
        for await value in meter.values { seen.append(value.upload.completed) }
        #expect(seen == [3, 3], "a late iteration gets the newest value")
    }

    @Test("A task and an asynchronous call report their progress, even with a stub", .row("R-06"))
    func calls() async throws {
        let stub = StubTransport { _ in .text("hello") }
        let service = NetworkService(environment: Fixture.environment) { $0.transport = stub }
        let task = service.task(UserEndpoint.open, as: .string)
        #expect(try await task.value == "hello")
        #expect(task.progress.download == RequestProgress.Transfer(completed: 5, total: 5))
        let meter = RequestProgress.Meter()
        let _: String = try await service.request(UserEndpoint.open, with: RequestSettings { $0.progress = meter })
        #expect(meter.current.download.completed == 5)
        for await _ in task.progressValues {}
    }

    private final class Seen: @unchecked Sendable {  // because a lock protects its values
        private let lock = NSLock()
        private var kept: [Int64] = []
        func add(_ value: Int64) { lock.withLock { kept.append(value) } }
        var all: [Int64] { lock.withLock { kept } }
    }

    @Test(
        "A meter that follows a source ends with the progress of the source, even if several threads update the source")
    func followers() async {
        for _ in 0..<50 {
            let source = RequestProgress.Meter(clock: Fixture.stillClock)
            let follower = RequestProgress.Meter(clock: Fixture.stillClock)
            follower.follow(source)
            source.beginUpload(of: 4_000)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { source.noteSent(1) } } }
            }
            #expect(follower.current == source.current)
        }
    }
}
