import Foundation
import Networking
import NetworkingTesting
import Testing

/// The adapter of *The journey of a request*.
private struct TenantAdapter: RequestAdapter {
    let tenant: String

    func adapt(_ request: inout HTTPRequest, for endpoint: any Endpoint) async throws {
        // Or wait for something.
        request.headers["X-Tenant"] = tenant
    }
}

/// The code of *Coming from URLSession* and *Coming from AsyncHTTPClient*.
enum ComingFromOtherClientsExamples {
    typealias Note = ComingFromFourLibrariesExamples.Note
    typealias NoteService = ComingFromFourLibrariesExamples.NoteService

    static func urlSession(_ notes: NoteService) async throws -> Note {
        let call = AdHocEndpoint(.post, "notes")
            .body(.json(["title": "Tea"])).authorized()
        let note: Note = try await notes.request(call)
        return note
    }

    static func asyncHTTPClient(_ api: NetworkEnvironment, _ session: AccessTokenSupervisor) async throws -> Note {
        let notes = NoteService(
            environment: api, authorizedBy: session
        ) {
            $0.settings.timeouts.total = .seconds(30)
            $0.settings.maximumResponseSize = 1 << 20
        }
        let call = AdHocEndpoint(.get, "notes/7").authorized()
        let note: Note = try await notes.request(call)
        await notes.shutDown(draining: .seconds(10))
        return note
    }
}
