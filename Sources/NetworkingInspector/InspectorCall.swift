import Foundation
import Networking

/// What the inspector keeps of one call.
struct InspectorCall: Sendable {
    /// One step of a call.
    enum Step: Sendable {
        case attempt(Int, HTTPRequest)
        case wait(RequestWait)
        case permit
        case adapted(HTTPRequest)
        case sent
        case redirected(HTTPStatus, to: URL)
        case head(HTTPStatus)
        /// The end of an attempt. These steps are in the order of the attempts.
        case attemptEnded
    }

    struct Moment: Sendable {
        let time: ContinuousClock.Instant
        let step: Step

        /// The number of bytes that the moment retains, roughly.
        fileprivate var size: Int {
            if case .redirected(_, let url) = step { 256 + url.absoluteString.utf8.count } else { 256 }
        }
    }

    struct Message: Sendable {
        let message: WebSocketMessage
        let date: Date
        let isSent: Bool
        /// The size of the message in bytes. The log may keep fewer bytes of it.
        let size: Int
    }

    /// How the call ended.
    struct End: Sendable {
        let date: Date
        let error: (any Error)?
        let duration: Duration
        let time: ContinuousClock.Instant
    }

    /// The sizes of the bodies of an attempt, in bytes; nil if a size is not known. The log may keep fewer bytes of a
    /// body.
    struct Sizes: Sendable {
        let sent: Int?
        let received: Int?
        /// The body sizes of the responses that were redirects.
        let hops: [Int]

        init(_ attempt: RequestAttempt) {
            sent = attempt.request?.body.length
            hops = attempt.redirects.map(\.data.count)
            guard let response = attempt.response else {
                received = nil
                return
            }
            if case .data(let data) = response.content {
                received = data.count
            } else {
                received = response.connection?.receivedBytes.map { Int(clamping: $0) }
            }
        }
    }

    /// The number of the call in the log, from 1.
    var number = 0
    let id: UUID
    let endpoint: any Endpoint.Type
    let template: String
    let method: HTTPMethod
    let date: Date
    let begun: ContinuousClock.Instant
    private(set) var moments: [Moment] = []
    private(set) var messages: [Message] = []
    private(set) var attempts: [RequestAttempt] = []
    private(set) var sizes: [Sizes] = []
    private(set) var progress: RequestProgress?
    private(set) var end: End?
    /// The number of moments and the number of messages that are not kept.
    private(set) var omitted = (moments: 0, messages: 0)
    /// The number of the last change of the log that concerns the call.
    var change = 0
    /// The number of bytes that the call retains, roughly.
    private(set) var size = 2_048
    private var messagesSize = 0

    private static let mostMoments = 500
    private static let mostMessages = 500
    private static let largestMessages = 4 << 20
    /// The maximum number of attempts whose bodies are kept.
    private static let mostBodies = 10

    init(_ call: RequestEvent.Call, at time: ContinuousClock.Instant) {
        (id, endpoint) = (call.id, type(of: call.endpoint))
        (template, method) = (call.endpoint.urlTemplate, call.endpoint.method)
        (date, begun) = (Date(), time)
        moments.reserveCapacity(12)
    }

    /// Removes what the call retains.
    mutating func removeContent() { (moments, messages, attempts, sizes, end) = ([], [], [], [], nil) }

    mutating func add(_ progress: RequestProgress) { self.progress = progress }

    mutating func add(_ step: Step, at time: ContinuousClock.Instant) {
        if case .attempt = step { progress = nil }
        if moments.count >= InspectorCall.mostMoments {
            let removed = InspectorCall.mostMoments / 4
            size -= moments.prefix(removed).reduce(0) { $0 + $1.size }
            moments.removeFirst(removed)
            omitted.moments += removed
        }
        let moment = Moment(time: time, step: step)
        moments.append(moment)
        size += moment.size
    }

    mutating func add(_ message: Message) {
        messages.append(message)
        messagesSize += message.message.data.count + 256
        size += message.message.data.count + 256
        while messages.count > InspectorCall.mostMessages || messagesSize > InspectorCall.largestMessages {
            let removed = messages.removeFirst().message.data.count + 256
            messagesSize -= removed
            size -= removed
            omitted.messages += 1
        }
    }

    /// Adds an attempt that has ended. The decisions about the attempt are added when the call ends.
    mutating func add(_ attempt: RequestAttempt, _ sizes: Sizes, at time: ContinuousClock.Instant) {
        keep(attempt, sizes)
        add(.attemptEnded, at: time)
    }

    private mutating func keep(_ attempt: RequestAttempt, _ sizes: Sizes) {
        attempts.append(attempt)
        self.sizes.append(sizes)
        size += InspectorCall.size(of: attempt)
        if attempts.count > InspectorCall.mostBodies { dropBodies(of: attempts.count - 1 - InspectorCall.mostBodies) }
    }

    /// Ends the call. Takes from the report the decisions about the attempts, and the attempts that no event has
    /// reported.
    ///
    /// - Parameter limit: The maximum number of bytes of a body that are kept.
    mutating func end(with report: CallReport, keeping limit: Int, at time: ContinuousClock.Instant) {
        end = End(date: report.date, error: report.error?.kept, duration: report.duration, time: time)
        let all = report.attempts
        for index in attempts.indices where index < all.count { attempts[index].decisions = all[index].decisions }
        for attempt in all.dropFirst(attempts.count) { keep(attempt.kept(bytes: limit), Sizes(attempt)) }
    }

    private mutating func dropBodies(of index: Int) {
        size -= InspectorCall.size(of: attempts[index])
        attempts[index] = attempts[index].kept(bytes: 0)
        size += InspectorCall.size(of: attempts[index])
    }
}

extension InspectorCall.Step {
    /// Returns nil if the event is no step. The bodies of requests are not kept.
    init?(_ event: RequestEvent) {
        switch event {
        case .attemptStarted(let number, let request): self = .attempt(number, request.leavingCall().kept(bytes: 0))
        case .waiting(let wait): self = .wait(wait)
        case .permitAcquired: self = .permit
        case .adapted(let request): self = .adapted(request.leavingCall().kept(bytes: 0))
        case .sent: self = .sent
        case .redirected(let response, let request): self = .redirected(response.status, to: request.url)
        case .head(let status, _): self = .head(status)
        default: return nil
        }
    }
}

extension InspectorCall.Message {
    init(_ message: WebSocketMessage, _ date: Date, isSent: Bool, keeping limit: Int) {
        (self.date, self.isSent, size) = (date, isSent, message.data.count)
        switch message {
        case _ where message.data.count <= limit: self.message = message
        case .text(let text): self.message = .text(String(decoding: Data(text.utf8).prefix(limit), as: UTF8.self))
        case .binary(let data): self.message = .binary(Data(data.prefix(limit)))
        }
    }
}

extension InspectorCall {
    /// The report of the call; nil before the call has ended.
    var report: CallReport? {
        end.map { end in
            CallReport(
                of: nil, date: end.date, earlier: attempts.dropLast(), last: attempts.last, error: end.error,
                duration: end.duration)
        }
    }

    /// The request of the attempt in progress.
    var lastRequest: HTTPRequest? {
        for moment in moments.reversed() {
            switch moment.step {
            case .adapted(let request), .attempt(_, let request): return request
            default: continue
            }
        }
        return nil
    }

    var lastStatus: HTTPStatus? {
        for moment in moments.reversed() {
            if case .head(let status) = moment.step { return status }
            if case .attempt = moment.step { return nil }
        }
        return nil
    }

    /// The sizes of the bodies of the last attempt, or of the attempt in progress so far.
    var lastSizes: (sent: Int64?, received: Int64?) {
        guard end != nil || attemptCount == attempts.count, let last = sizes.last else {
            return (progress?.upload.completed, progress?.download.completed)
        }
        return (last.sent.map { Int64($0) }, last.received.map { Int64($0) })
    }

    /// The number of attempts. An attempt that was paused begins again, with the same number.
    var attemptCount: Int {
        guard end == nil else { return attempts.count }
        let last = moments.last { if case .attempt = $0.step { true } else { false } }
        return if case .attempt(let number, _)? = last?.step { number } else { attempts.count }
    }

    /// The wait in progress; nil if there is none.
    var currentWait: RequestWait? {
        guard end == nil, case .wait(let wait)? = moments.last?.step else { return nil }
        return wait
    }

    /// The start of the wait in progress, measured from the start of the call.
    var waitsSince: Duration? { currentWait == nil ? nil : moments.last.map { $0.time - begun } }

    /// The moments of an attempt since its last start.
    func moments(of number: Int) -> ArraySlice<Moment> {
        let begin = moments.lastIndex { if case .attempt(number, _) = $0.step { true } else { false } }
        guard let begin else { return [] }
        let rest = moments[begin...]
        let end = rest.firstIndex { if case .attemptEnded = $0.step { true } else { false } }
        return end.map { rest[...$0] } ?? rest
    }
}
