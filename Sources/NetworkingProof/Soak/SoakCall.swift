import Foundation
import Networking

/// The calls of the mixed traffic, and the outcomes that each of them may have.
enum SoakCall: Int, CaseIterable, Sendable {
    case get, post, upload, download, stream, events, cancelled, failing, missing, authorized, cached, socket

    /// A call with an outcome that it must not have.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes the call, and checks its outcome.
    ///
    /// - Parameters:
    ///   - number: A number that is different for each call.
    ///   - folder: A folder that no other call uses at the same time.
    func run(_ service: NetworkService, _ number: Int, in folder: URL) async throws {
        switch self {
        case .get:
            let item: SoakItem = try await service.request(.get("items/\(number)"))
            try demand(item == SoakItem("\(number)"), "\(item)")
        case .cached:
            let item: SoakItem = try await service.request(.get("cached/\(number % 20)"))
            try demand(item == SoakItem("\(number % 20)"), "\(item)")
        case .post:
            let item = SoakItem("\(number)")
            let echo: SoakItem = try await service.request(.post("echo").body(.json(item)))
            try demand(echo == item, "\(echo)")
        case .upload:
            let count = try await service.request(
                .put("upload").body(.file(folder.appending(path: "upload"))), as: .string)
            try demand(count == "right", "\(count) bytes")
        case .download:
            let target = folder.appending(path: "download")
            let url = try await service.request(.get("file"), as: .file(at: target, overwriting: .replace))
            let data = try Data(contentsOf: url)
            try demand(data == SoakServer.file, "\(data.count) bytes")
        case .stream:
            var data = Data()
            for try await chunk in try await service.request(.get("stream"), as: .stream) { data += chunk }
            try demand(data == SoakServer.file, "\(data.count) bytes")
        case .events:
            var data: [String] = []
            for try await event in service.events(AdHocEndpoint.get("events")) {
                data.append(event.data)
                if data.count == SoakServer.events { break }
            }
            try demand(data == (1...SoakServer.events).map { "\($0)" }, "\(data)")
        case .authorized:
            let item: SoakItem = try await service.request(.get("secret").authorized())
            try demand(item == SoakItem("secret"), "\(item)")
        case .socket: try await SoakCall.talk(service, number)
        case .cancelled:
            try await cancel(service, after: .microseconds(number % 4_000))
        case .failing:
            try await fail(service, "failing", "a lost connection") {
                ($0 as? NetworkError)?.kind == .connectionLostBeforeHead
            }
        case .missing:
            try await fail(service, "missing", "a 404") { $0 as? GeneralRequestError == .notFound }
        }
    }

    /// Makes a call that must fail with the right error.
    private func fail(
        _ service: NetworkService, _ path: String, _ expected: String, _ isRight: (any Error) -> Bool
    ) async throws {
        do { try await service.request(.get("\(path)")) } catch  where isRight(error) { return }
        throw Wrong(description: "\(path): expected \(expected), found a successful response")
    }

    /// Whether the latency of the call is meaningful. The other calls are cancelled or wait for a retry.
    var isTimed: Bool { self != .cancelled && self != .failing && self != .socket }

    private func cancel(_ service: NetworkService, after delay: Duration) async throws {
        let begun = ContinuousClock.now
        let call = Task { try await service.request(.get("slow"), as: .string) }
        try await Task.sleep(for: delay)
        let passed = ContinuousClock.now - begun
        call.cancel()
        do {
            let text = try await call.value
            // On a busy machine, the response may have arrived before the call was cancelled.
            try demand(text == "slow" && passed >= SoakServer.slowness, "\(text) after a cancellation at \(passed)")
        } catch let error as GeneralRequestError where error == .cancelled {
            let end = ContinuousClock.now - begun
            try demand(end < max(SoakServer.slowness, passed + .seconds(1)), "the end of a cancelled call at \(end)")
        }
    }

    private func demand(_ condition: Bool, _ found: String) throws {
        if !condition { throw Wrong(description: "\(self): found \(found)") }
    }
}
