import Foundation
import Networking
import NetworkingInspector
import NetworkingTesting

/// Three chapters of the tour: a film is uploaded, a film is downloaded, and a download that is interrupted twice is
/// resumed.
struct Transfers {
    private enum FilmEndpoint: Endpoint {
        case upload(URL)
        case download
        case unlucky

        var path: EndpointPath {
            switch self {
            case .upload, .download: "film"
            case .unlucky: "unlucky"
            }
        }

        var method: HTTPMethod {
            switch self {
            case .upload: .post
            case .download, .unlucky: .get
            }
        }

        var body: HTTPBody {
            switch self {
            case .upload(let film): .multipart([.field("title", "Metropolis"), .file("film", at: film)])
            case .download, .unlucky: .empty
            }
        }
    }

    /// The number of calls in these chapters, and the number of calls that are expected to fail.
    static let expected = (calls: 3, failures: 0)

    private let ledger: Ledger
    private let server: LoopbackServer
    private let service: NetworkService
    private let folder: URL
    private let film = Data((0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) })

    init(_ ledger: Ledger, _ inspector: NetworkInspector) throws {
        self.ledger = ledger
        server = try LoopbackServer()
        let film = film
        let cuts = Countdown([1_000_000, 1_500_000])
        server.route(.post, "/film") { request in
            var received = 0
            for try await chunk in request.body { received += chunk.count }
            return .text("\(received)")
        }
        server.route(.get, "/film") { .content(film, tag: "\"1927\"", for: $0) }
        server.route(.get, "/unlucky") { request in
            let answer = LoopbackResponse.content(film, tag: "\"1927\"", for: request)
            return cuts.next().map { answer.failing(.truncate(after: $0)) } ?? answer
        }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("films-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        service = NetworkService(environment: NetworkEnvironment(baseURL: server.url)) {
            $0.observers.append(inspector)
            $0.retry = RetryPolicy(retries: 3, backoff: .constant(.milliseconds(20)))
        }
    }

    func play() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await upload()
        try await download()
        try await downloadInPieces()
    }

    private func upload() async throws {
        let source = folder.appendingPathComponent("film.mp4")
        try film.write(to: source)
        let task = service.task(FilmEndpoint.upload(source), as: .string)
        let bar = ProgressBar("uploading", task) { $0.upload }
        let received = try await ledger.call { try await task.value }
        await bar.close()
        ledger.step(
            "a film of 4 MB was uploaded as a form of \(received) bytes",
            isRight: task.progress.upload.fraction == 1 && Int(received) == task.progress.upload.total.map(Int.init))
    }

    private func download() async throws {
        let target = folder.appendingPathComponent("copy.mp4")
        let task = service.task(FilmEndpoint.download, as: .file(at: target))
        let bar = ProgressBar("downloading", task) { $0.download }
        let url = try await ledger.call { try await task.value }
        await bar.close()
        ledger.step("the film was downloaded, and every byte is correct", isRight: try Data(contentsOf: url) == film)
    }

    /// The server closes the connection twice. Each retry requests only the missing bytes.
    private func downloadInPieces() async throws {
        let target = folder.appendingPathComponent("unlucky.mp4")
        let task = service.task(FilmEndpoint.unlucky, as: .file(at: target, resuming: .sameAddress))
        let bar = ProgressBar("resuming", task) { $0.download }
        let url = try await ledger.call { try await task.value }
        await bar.close()
        ledger.step(
            "a download was interrupted and resumed twice: \(server.requestCount - 2) requests, every byte is correct",
            isRight: try Data(contentsOf: url) == film && server.requestCount == 5)
    }
}

/// A progress bar of a call on one line of a terminal. If the output is not a terminal, nothing is drawn.
private struct ProgressBar {
    private let drawing: Task<Void, Never>?

    init<Value>(
        _ title: String, _ task: RequestTask<Value>,
        _ direction: @escaping @Sendable (RequestProgress) -> RequestProgress.Transfer
    ) {
        let values = task.progressValues
        let isTerminal = isatty(STDOUT_FILENO) == 1
        drawing =
            !isTerminal
            ? nil
            : Task {
                for await value in values { ProgressBar.draw(title, direction(value)) }
                print("")
            }
    }

    /// Waits until the last progress value is drawn.
    func close() async { await drawing?.value }

    private static func draw(_ title: String, _ progress: RequestProgress.Transfer) {
        let filled = Int((progress.fraction ?? 0) * 30)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
        print("\r    \(title) [\(bar)] \(progress)", terminator: "")
        fflush(nil)
    }
}

/// A list of numbers, each of which is returned once.
private final class Countdown: @unchecked Sendable {  // because of the lock around its variable
    private let lock = NSLock()
    private var numbers: [Int]

    init(_ numbers: [Int]) {
        self.numbers = numbers
    }

    func next() -> Int? { lock.withLock { numbers.isEmpty ? nil : numbers.removeFirst() } }
}
