import Foundation

/// One attempt of an upload with [tus 1.0](https://tus.io/protocols/resumable-upload).
///
/// If the note names an upload, the attempt asks the server for the offset of this upload; otherwise the attempt
/// creates an upload. Then the attempt sends the missing bytes. A response that belongs to none of these steps is the
/// response of the attempt: the session, the retry policy and the validators handle it like any other response.
struct TusAttempt {
    /// What follows a step.
    enum Step {
        /// Find out what the server offers.
        case discover
        /// Create an upload.
        case create(TusOffer)
        /// Ask the server for the offset of the upload.
        case ask
        /// Send the bytes from a position.
        case send(from: Int)
        /// The attempt has ended with a response; nil if the server does not support tus.
        case end(HTTPResponse?)
    }

    let request: HTTPRequest
    let delivery: BodyDelivery
    let upload: UploadOrder
    let note: UploadNote
    let base: any Transport
    /// The context of all requests of the attempt. The policies receive the response of the attempt when the attempt
    /// ends.
    private let aside: TransferContext?

    var size: Int { upload.file.identity.size }
    var resumption: HTTPBody.Resumption { upload.file.resumption }

    init(
        _ request: HTTPRequest, _ delivery: BodyDelivery, _ upload: UploadOrder, _ note: UploadNote,
        over base: any Transport
    ) {
        (self.request, self.delivery, self.upload, self.note) = (request, delivery, upload, note)
        self.base = base
        aside = request.parts.transfer?.aside
    }

    /// Sends the missing bytes.
    ///
    /// - Returns: The response of the attempt. Nil if the server does not support tus and the app allows a plain
    ///   upload.
    func send() async throws -> HTTPResponse? {
        var step = note.content == nil ? Step.discover : .ask
        var patience = TusPatience(size: size, partSize: resumption.partSize)
        while true {
            switch step {
            case .discover: step = try await discover()
            case .create(let offer): step = try await create(offer, isAgain: patience.beginsAgain())
            case .ask: step = try await ask()
            case .send(let start): step = try await sendPart(start..<patience.end(from: start))
            case .end(let response): return response
            }
            try patience.check(step)
        }
    }

    /// Asks the server to forget the upload.
    func discard() async throws -> HTTPResponse {
        guard let content = note.content else {
            throw NetworkError(
                .uploadRefused,
                reason: "nothing was discarded: the note beside \(upload.file.url.lastPathComponent) is damaged, or is "
                    + "of another user, another URL or other metadata")
        }
        let response = try await exchange(make(.delete, content.upload))
        if response.isRefusal { return ending(response) }
        if response.status == .locked { throw busy(response) }
        // A server without the tus extension for ending uploads forgets the upload on its own.
        let isOver = response.status.isSuccessful || TusStatus.gone.contains(response.status)
        if isOver || TusStatus.cannotDelete.contains(response.status) { note.clear() }
        return ending(response)
    }

    /// Returns a request about the upload. The request contains the token of the call only if it goes to the same
    /// origin as the call's request.
    func make(_ method: HTTPMethod, _ url: URL, body: HTTPBody = .empty) -> HTTPRequest {
        var next = request
        next.method = method
        next.url = url
        next.body = body
        next.headers.removeAll {
            Redirect.contentFields.contains($0.name) || $0.name == .idempotencyKey || $0.name.isOfUpload
        }
        next = next.leavingOrigin(of: request)
        next.isElsewhere = request.isElsewhere || next.origin != request.origin
        if method != .options { next.headers[.tusResumable] = TusOffer.version }
        next.endDownload()
        // The responses state the current offset of the upload, so they must not come from a cache.
        next.parts.order(caching: .off)
        // Two requests that create uploads look equal if their files have the same length.
        next.parts.order(duplicates: .always(.allow))
        if let aside { next.belong(to: aside) }
        return next
    }

    /// Sends a request whose response is needed only for the next step.
    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse {
        var response = try await send(request, delivering: .buffered(limit: TusAttempt.largestResponse))
        response = try await response.inMemory(upTo: TusAttempt.largestResponse)
        response.decideRefusal()
        return response
    }

    /// Sends a request. If the request fails, the error contains the request, so that the failure counts for the
    /// request's host.
    func send(_ request: HTTPRequest, delivering delivery: BodyDelivery) async throws -> HTTPResponse {
        do { return try await base.send(request, delivering: delivery) } catch let error as NetworkError {
            throw error.completed(request: request, response: nil)
        }
    }

    private static let largestResponse = 1 << 20

    /// Returns a response as the response of the attempt.
    func ending(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        if let context = request.parts.transfer { response.request.belong(to: context) }
        return response
    }

    static func refusal(_ reason: String, _ response: HTTPResponse? = nil) -> NetworkError {
        NetworkError(
            .uploadRefused, reason: "the upload cannot continue: \(reason)", request: response?.request,
            response: response?.withoutStream)
    }
}

/// Limits how much an attempt sends and repeats. Whatever the server responds, the attempt sends at most a small
/// multiple of the file's size.
struct TusPatience {
    private var beginnings = 0
    /// The largest position that the server has named.
    private var position = 0
    /// The end of the last request that has sent bytes.
    private var end = 0
    /// The number of requests that have sent bytes from the position.
    private var repeats = 0
    /// The number of steps since the server first named the position.
    private var idleSteps = 0
    private var steps = 0
    /// The maximum number of bytes of the next request.
    private var most: Int
    private let mostSteps: Int
    private let size: Int
    private let partSize: Int

    init(size: Int, partSize: Int?) {
        (self.size, self.partSize) = (size, max(min(partSize ?? size, size), 1))
        most = self.partSize
        // An upload continues even if the server takes only a small part of each request, unless it takes hardly any
        // bytes.
        mostSteps = 50 + 3 * (size / min(self.partSize, 16_384))
    }

    /// Returns the end of the request that sends bytes from a position.
    mutating func end(from start: Int) -> Int {
        end = start + min(size - start, most)
        return end
    }

    /// Notes that an upload is created.
    ///
    /// - Returns: Whether an upload was created before.
    mutating func beginsAgain() -> Bool {
        beginnings += 1
        (position, end, repeats, idleSteps, most) = (0, 0, 0, 0, partSize)
        return beginnings > 1
    }

    /// - Throws: ``NetworkError/Kind/uploadRefused`` if the attempt makes no progress.
    mutating func check(_ next: TusAttempt.Step) throws {
        switch next {
        case .end: return
        case .create where beginnings >= 2: throw TusAttempt.refusal("the server has forgotten the upload twice")
        case .send(let start) where start > position:
            // If the server has taken only a part of a request, the rest was sent unnecessarily, so the next request is
            // smaller.
            if end > start { most = min(max(2 * (start - position), 65_536), partSize) }
            if end == start { most = min(2 * most, partSize) }
            (position, repeats, idleSteps) = (start, 1, 0)
        case .send:
            repeats += 1
            idleSteps += 1
        case .discover, .create, .ask: idleSteps += 1
        }
        steps += 1
        if repeats > 2 || idleSteps > 12 {
            throw TusAttempt.refusal("the server took none of the bytes that were sent, and gave no reason")
        }
        if steps > mostSteps { throw TusAttempt.refusal("the server took only a few bytes of each request") }
    }
}
