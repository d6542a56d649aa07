import Foundation
import Networking
import NetworkingTesting

/// One call of a worker, which is awaited, made as a task, or made with callbacks. Before the call, the user or the
/// token may change. During the call, it may be cancelled.
struct StressStep: Sendable {
    private let round: StressRound
    private let service: NetworkService
    private let call: StressCall
    private let fate: Int
    /// The number of yields before the call is cancelled or observed.
    private let turns: Int
    private let settings: RequestSettings

    init(round: StressRound, id: Int, random: inout RandomSource) {
        self.round = round
        service = round.services[Int.random(in: 0..<2, using: &random)]
        let method: HTTPMethod = Int.random(in: 0..<4, using: &random) == 0 ? .post : .get
        call = StressCall(
            id: id, item: Int.random(in: 0..<12, using: &random), method: method,
            priority: Int.random(in: -1...1, using: &random), isOpen: Int.random(in: 0..<10, using: &random) == 0,
            ledger: round.ledger)
        fate = Int.random(in: 0..<10_000, using: &random)
        turns = Int.random(in: 0..<6, using: &random)
        var settings = RequestSettings()
        if Int.random(in: 0..<20, using: &random) == 0 {
            settings.timeouts.total = .microseconds(Int.random(in: 1..<2_000, using: &random))
        }
        self.settings = settings
    }

    func run() async {
        round.ledger.begin(call.id)
        switch fate {
        case 0..<10: round.logOut()
        case 10..<30: round.logIn()
        case 30..<60: if let user = round.ledger.currentUser { round.backend.invalidate(user) }
        case 60..<63: if let user = round.ledger.currentUser { round.backend.revoke(user) }
        case 63..<66: await service.reset()
        case 66..<69: service.cancelAll { ($0 as? StressCall)?.item == call.item }
        default: break
        }
        // Logs a user in soon after a log-out.
        if round.ledger.currentUser == nil, fate % 50 == 0 { round.logIn() }
        switch fate % 10 {
        case 0..<4: await awaitCall()
        case 4: await cancelTask()
        case 5: await awaitRequestTask()
        case 6: await observeRequestTask(isCancelled: false)
        case 7: await observeRequestTask(isCancelled: true)
        case 8: await callBack()
        default: await derive()
        }
    }

    private func end(_ result: Result<String, any Error>) {
        round.ledger.end(call.id, as: try? result.get())
    }

    private func awaitCall() async {
        do { end(.success(try await service.request(call, as: .string, with: settings))) } catch {
            end(.failure(error))
        }
    }

    private func cancelTask() async {
        let task = Task { await awaitCall() }
        for _ in 0..<turns { await Task.yield() }
        task.cancel()
        await task.value
    }

    private func awaitRequestTask() async {
        do { end(.success(try await service.task(call, as: .string, with: settings).value)) } catch {
            end(.failure(error))
        }
    }

    private func observeRequestTask(isCancelled: Bool) async {
        let task = service.task(call, as: .string, with: settings)
        for _ in 0..<turns { await Task.yield() }
        await withCheckedContinuation { done in
            task.onCompletion(on: .global()) { result in
                end(result.map(\.value))
                done.resume()
            }
            if isCancelled { task.cancel() }
        }
    }

    private func callBack() async {
        await withCheckedContinuation { done in
            service.request(for: call, as: .string, with: settings) { value in
                end(.success(value))
                done.resume()
            } failure: { error in
                end(.failure(error))
                done.resume()
            }
        }
    }

    /// Awaits a chain of derived tasks, which may be cancelled.
    private func derive() async {
        let source = service.task(call, as: .string, with: settings)
        let isNew = fate % 20 < 10
        let chain = source.map { $0 }.flatMap { value in
            (isNew ? service.task(.get("open/\(call.item)"), as: .string) : source).map { _ in value }
        }
        if turns == 0 { chain.cancel() }
        do {
            let value = try await chain.value
            if chain.report?.attempts.isEmpty ?? true {
                round.ledger.add("call \(call.id): a derived task has a value, but no report or attempt")
            }
            end(.success(value))
        } catch { end(.failure(error)) }
    }
}
