// Runs the Swift blocks of Caching.md unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

// snippet.news
func makeNews(_ environment: NetworkEnvironment) -> NetworkService {
    NetworkService(environment: environment) {
        $0.cache = ResponseCache(capacity: 64 << 20)
    }
}
// snippet.end

// snippet.archive
func makeArchive(_ environment: NetworkEnvironment, in folder: URL) throws
    -> NetworkService
{
    let cache = try ResponseCache(
        directory: folder.appendingPathComponent("responses"),
        capacity: 256 << 20)
    return NetworkService(environment: environment) { $0.cache = cache }
}
// snippet.end

// snippet.stories
func stories(_ news: NetworkService) async throws -> (
    stories: [String], isStored: Bool
) {
    let settings = RequestSettings { $0.caching = .staleIfOffline }
    let response: Response<[String]> = try await news.response(
        .get("stories"), with: settings)
    return (response.value, response.http.source == .cache)
}
// snippet.end

// snippet.show
func show(_ news: NetworkService, _ display: ([String]) -> Void) async throws {
    for try await stories in news.cachedThenFresh(
        .get("stories"), as: .json([String].self))
    { display(stories.value) }
}
// snippet.end

@Suite("Examples of caching", .endsInTime)
struct CachingExamples {
    @Test("Stored stories are used without a network, and are shown before new stories")
    func offline() async throws {
        let stub = StubTransport()
        stub.on(.get, nil, .json(["one"]), .failure(.notConnected), .json(["two"]))
        let news = NetworkService(client: makeNews(Fixture.environment).client.with { $0.transport = stub })
        #expect(try await stories(news).isStored == false)
        let stored = try await stories(news)
        #expect(stored.isStored && stored.stories == ["one"])
        let shown = Box<[[String]]>([])
        try await show(news) { stories in shown.change { $0.append(stories) } }
        #expect(shown.value == [["one"], ["two"]])
    }

    @Test("Stories on disk are used after a restart, without a network")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let stub = StubTransport()
        stub.on(.get, nil, .json(["one"]), .failure(.notConnected))
        for _ in 0..<2 {
            let archive = try makeArchive(Fixture.environment, in: folder.url)
            let news = NetworkService(client: archive.client.with { $0.transport = stub })
            #expect(try await stories(news).stories == ["one"])
        }
    }
}
