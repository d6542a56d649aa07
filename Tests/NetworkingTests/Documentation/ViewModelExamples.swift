// The Swift blocks of MainActor.md, unchanged. `DocumentationTests` compares them with the article.

import Foundation
import Networking
import NetworkingTesting
import Testing

@MainActor
final class TrackModel {
    private(set) var title = ""
    private(set) var message: String?
    private(set) var loading: Task<Void, Never>?
    private let tracks: TrackService

    init(_ tracks: TrackService) {
        self.tracks = tracks
    }

    func load(_ id: Int) {
        loading?.cancel()  // also cancels the task's call
        message = nil
        loading = Task {
            do {
                title = try await tracks.track(id).title
            } catch GeneralRequestError.cancelled {
                return  // a later load has replaced this load
            } catch {
                message = error.localizedDescription
            }
        }
    }
}

@Test @MainActor func theModelShowsATitleOrAMessage() async throws {
    let stub = StubTransport()
    let track = Track(id: 7, title: "Blue")
    stub.on(.get, "/tracks/7", .json(track), .failure(.notConnected))
    let api = NetworkEnvironment(baseURL: URL(string: "https://example.com"))
    let model = TrackModel(
        TrackService(environment: api) { $0.transport = stub })
    model.load(7)
    await model.loading?.value
    #expect(model.title == "Blue" && model.message == nil)
    model.load(7)
    await model.loading?.value
    #expect(model.message?.isEmpty == false)
    model.load(7)
    #expect(model.message == nil)
}
