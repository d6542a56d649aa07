// The tests run the Swift blocks of Transfers.md and BackgroundTransfers.md. `DocumentationTests` checks that the texts
// are the same.

import Foundation
import Networking
import NetworkingTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct UploadEndpoint: Endpoint {
    let film: URL

    let path: EndpointPath = "films"
    let method = HTTPMethod.post
    var body: HTTPBody {
        .file(film).resumable(
            .tus(metadata: [
                "filename": film.lastPathComponent, "filetype": "video/mp4",
            ]))
    }
    var settings: RequestSettings {
        RequestSettings {
            $0.retry = RetryPolicy(
                retries: 9, backoff: .exponential(first: .seconds(1)))
            $0.maximumAttempts = 100
        }
    }
}

func uploadFilm(
    _ film: URL, with films: NetworkService,
    show: @escaping @Sendable (Double) -> Void
) async throws {
    let task = films.task(UploadEndpoint(film: film), as: .void)
    for await progress in task.progressValues {
        show(progress.upload.fraction ?? 0)  // goes on over attempts
    }
    try await task.value
}

func backgroundUpload(
    of film: URL, to endpoint: some Endpoint, with films: NetworkService
) async throws -> (URLRequest, URL) {
    let request = try await films.httpRequest(for: endpoint, refreshing: true)
    var copy = URLRequest(url: request.url)
    copy.httpMethod = request.method.rawValue
    for field in request.allHeaders {
        copy.addValue(field.value, forHTTPHeaderField: field.name.rawValue)
    }
    return (copy, film)  // session.uploadTask(with: copy, fromFile: film)
}

@Suite("Recipes for uploads", .endsInTime)
struct UploadRecipeTests {
    @Test("Upload a film that goes on after a lost connection, with a progress bar")
    func film() async throws {
        let fixture = try UploadFixture()
        fixture.server.order(.patch, .cut(after: 40_000))
        let shown = Box<[Double]>([])
        let task = Task {
            try await uploadFilm(fixture.file, with: fixture.service()) { value in shown.change { $0.append(value) } }
        }
        for _ in 0..<100_000 where fixture.server.complete.isEmpty {
            await Task.yield()
            fixture.clock.advance(by: .milliseconds(10))  // the policy waits up to a second
        }
        try await task.value
        #expect(fixture.server.complete == [fixture.content] && fixture.server.uploads.count == 1)
        #expect(shown.value.last == 1)
        #expect(fixture.server.uploads.first?.metadata == "filename ZmlsbS5tcDQ=,filetype dmlkZW8vbXA0")
    }

    @Test("Hand a request to a background session")
    func background() async throws {
        let fixture = try UploadFixture()
        let endpoint = AdHocEndpoint.post("films").body(.file(fixture.file)).header("Idempotency-Key", "1")
        let (request, file) = try await backgroundUpload(of: fixture.file, to: endpoint, with: fixture.service())
        #expect(request.httpMethod == "POST" && file == fixture.file)
        #expect(request.value(forHTTPHeaderField: "Idempotency-Key") == "1")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "video/mp4")
        #expect(fixture.server.methods.isEmpty)
    }
}
