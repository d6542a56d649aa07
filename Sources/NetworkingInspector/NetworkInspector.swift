public import Foundation
public import Networking
import NetworkingServer

/// Shows the calls of services on a page in a browser, while they run.
///
/// ```swift
/// let inspector = try NetworkInspector(port: 8899)
/// let profiles = ProfileService(environment: environment) { $0.observers.append(inspector) }
/// inspector.show(profiles)
/// print(inspector.url)
/// ```
///
/// The page is served on 127.0.0.1 only, at a path that nobody can guess, and loads nothing from elsewhere. It changes
/// nothing. Header values, query values and bodies are shown only if the ``Networking/Redaction`` allows them. Every
/// program on the machine that knows the URL can read the page, so create an inspector in debug builds only.
///
/// The calls in progress and the calls that ended last are kept, up to `limit` calls and up to 64 MiB. The server stops
/// when the inspector is released. A service whose observer is the inspector retains the inspector.
public final class NetworkInspector: RequestObserver {
    private let log: InspectorLog
    private let core: LoopbackServerCore<InspectorServer>
    private let parts: InspectorParts

    /// The address of the page.
    public let url: URL

    /// Creates an inspector, and starts its server.
    ///
    /// - Parameters:
    ///   - port: The port. With 0, the system chooses a port. Default: 0.
    ///   - redaction: Determines what the page shows. With `.revealed`, the page says so. Default: `.standard`.
    ///   - limit: The maximum number of calls, at least 1. If there are more calls, the calls that ended first are
    ///     removed. Default: 1,000.
    ///   - bodyLimit: The maximum number of bytes of a body that are kept. If the body of a request is larger, only its
    ///     length is kept. If the redaction hides bodies completely, no body is kept. Default: 64 KiB.
    /// - Throws: The system's error if the server cannot listen on the port.
    public init(
        port: UInt16 = 0, redaction: Redaction = .standard, limit: Int = 1_000, bodyLimit: Int = 64 << 10
    ) throws {
        log = InspectorLog(redaction, limit: limit, bodyLimit: bodyLimit)
        parts = InspectorParts(log)
        let server = InspectorServer(log, parts)
        core = try LoopbackServerCore(server, port: port)
        server.port = core.port
        url = core.url.appending(path: "\(server.secret)/")
    }

    deinit {
        core.stop()
    }

    /// Whether a page is open. A call reports its progress only if a page is open when the call begins.
    public var wantsProgress: Bool { log.isWatched }

    /// Returns the record of a call, which receives the events of the call. If a page is open, the call also reports
    /// its progress.
    public func observer(of call: RequestEvent.Call) -> any RequestObserver { log.begin(call, at: .now) }

    /// Does nothing: the record of each call receives its events.
    public func observe(_ event: RequestEvent, of call: RequestEvent.Call) {}

    /// Shows the parts of a service: its limit, its gate, its circuit breaker, its budget, its cache, its transport,
    /// and its session. The refreshes, log-ins and log-outs of the session are listed. None of the parts is retained.
    ///
    /// - Parameter name: The name that the page shows. Default: the type of the service.
    public func show(_ service: some NetworkRequesting, as name: String? = nil) {
        parts.add(service, as: name ?? "\(type(of: service))")
    }

    /// Shows a part of the app or of another product, such as an outbox. If the part is an object, the inspector does
    /// not retain it.
    ///
    /// - Parameter name: The name that the page shows.
    public func show(_ part: some InspectablePart, as name: String) { parts.add(part, as: name) }

    /// The calls so far, and what the parts are doing now. A part that has not answered within a second is shown with
    /// its last answer, or without an answer.
    public var archive: Archive {
        get async {
            await parts.refresh()
            return Archive(record: log.everything(), redaction: log.redaction)
        }
    }

    /// A record of calls.
    ///
    /// ```swift
    /// try await inspector.archive.html().write(to: folder.appending(path: "calls.html"))
    /// ```
    public struct Archive: Sendable {
        let record: InspectorLog.Changes
        let redaction: Redaction

        var content: InspectorContent { InspectorContent(record, redaction) }

        /// The exchanges of the calls that have ended, for the developer tools of a browser.
        public var har: HARArchive {
            HARArchive(
                entries: record.calls.filter { $0.end != nil }.flatMap { call in
                    call.attempts.indices.flatMap { call.exchanges(of: $0, redaction) }
                })
        }

        /// Returns the page with the calls as one file, which needs no server and no network.
        public func html() throws -> Data { try InspectorPage.file(content) }
    }
}
