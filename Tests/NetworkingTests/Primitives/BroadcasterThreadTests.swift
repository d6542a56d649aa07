import Foundation
import Testing

@testable import Networking
@testable import NetworkingTesting

@Suite("Broadcasters on many threads", .endsInTime)
struct BroadcasterThreadTests {
    @Test("In 10,000 random runs of observe, cancel and publish on many threads, no value is lost or repeated")
    func walk() async {
        var generator = SeededGenerator(seed: 31)
        for _ in 0..<10_000 {
            let broadcaster = Broadcaster<Int>(0)
            let replays = Bool.random(using: &generator)
            let publishers = Int.random(in: 1...3, using: &generator)
            let each = Int.random(in: 1...4, using: &generator)
            let isCancelled = Bool.random(using: &generator)
            let stayed = Box<[Int]>([])
            let steady = broadcaster.observe(replayingCurrent: replays, on: nil) { value in
                stayed.change { $0.append(value) }
            }
            let left = Box<[Int]>([])
            let fleeting = broadcaster.observe(on: nil) { value in left.change { $0.append(value) } }
            await withTaskGroup(of: Void.self) { group in
                for publisher in 0..<publishers {
                    group.addTask {
                        for number in 1...each { broadcaster.publish(publisher * 100 + number) }
                    }
                }
                if isCancelled { group.addTask { fleeting.cancel() } }
                group.addTask { _ = broadcaster.observe(on: nil) { _ in } }
            }
            // A publisher can return before another thread has delivered its last value. That thread belongs to this
            // group, too, so the delivery has ended here.
            var told = stayed.value
            if replays { #expect(told.removeFirst() == 0) }
            #expect(told.count == publishers * each && Set(told).count == told.count)
            for publisher in 0..<publishers {
                let own = told.filter { $0 / 100 == publisher }
                #expect(own == own.sorted(), "the changes of one thread keep their order")
            }
            #expect(isCancelled ? told.starts(with: left.value) : left.value == told)
            steady.cancel()
            broadcaster.publish(999)
            #expect(!stayed.value.contains(999))
            withExtendedLifetime(fleeting) {}
        }
    }

    @Test("All observers get the changes of several threads in the same order")
    func threads() async {
        let broadcaster = Broadcaster<Int>()
        let told = Box<[[Int]]>([[], []])
        let tokens = (0..<2).map { index in
            broadcaster.observe(on: nil) { value in told.change { $0[index].append(value) } }
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask { for value in 0..<200 { broadcaster.publish(thread * 1_000 + value) } }
            }
        }
        while told.value[1].count < 1_600 { await Task.yield() }
        #expect(told.value[0] == told.value[1])
        #expect(Set(told.value[0]).count == 1_600)
        for token in tokens { token.cancel() }
    }
}
