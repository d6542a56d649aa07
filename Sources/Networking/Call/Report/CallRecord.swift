import Foundation

/// What a call that was answered keeps for its report, which is made when somebody asks for it.
struct CallRecord: Sendable {
    let call: any RequestDescribing
    let date: Date
    /// The attempts before the one that was answered.
    let earlier: [RequestAttempt]
    let number: Int
    /// When the call began, and the attempt; when that was handed over, and when all of it was over.
    let begun: Duration
    let attemptBegun: Duration
    let handedOver: Duration?
    let ended: Duration

    /// The report of the call that this answered.
    func report(on response: HTTPResponse) -> CallReport {
        let last = RequestAttempt(
            number: number, request: response.request, response: response.withoutStream, error: nil,
            start: attemptBegun - begun, queued: handedOver.map { $0 - attemptBegun }, duration: ended - attemptBegun)
        return CallReport(of: call, date: date, earlier: earlier, last: last, duration: ended - begun)
    }
}
