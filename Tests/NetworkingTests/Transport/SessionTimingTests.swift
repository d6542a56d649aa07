import Foundation
@testable import Networking
import Testing

@Suite("Timeouts and metrics of URLSession", .endsInTime)
struct SessionTimingTests {
    @Test("On Apple platforms a call without any activity times out after twice the connect timeout")
    func connecting() {
        let limit = SessionPlatform.apple.connectingLimit(HTTPRequest.Timeouts())
        #expect(limit == .seconds(30))
        #expect(SessionPlatform.linux.connectingLimit(HTTPRequest.Timeouts()) == nil)
        // For a call with its own idle timeout, such as a long poll, only this timeout applies.
        #expect(SessionPlatform.apple.connectingLimit(HTTPRequest.Timeouts(idle: .seconds(90))) == nil)
        var activity = SessionActivity(idle: .seconds(60), connecting: limit)
        #expect(activity.timeLeft(at: .seconds(29)) == .seconds(1))
        #expect(activity.timeLeft(at: .seconds(31)) == .seconds(-1))
        activity.note(at: .seconds(31))
        #expect(activity.timeLeft(at: .seconds(31)) == .seconds(60))
    }

    @Test("The time limit for connecting is never longer than the idle timeout, and starts with the task")
    func shortIdle() {
        var activity = SessionActivity(idle: .seconds(5), connecting: .seconds(30))
        #expect(activity.limit == .seconds(5))
        activity.begin(at: .seconds(4))
        #expect(activity.timeLeft(at: .seconds(5)) == .seconds(4))
        #expect(SessionActivity(idle: .seconds(60), connecting: nil).limit == .seconds(60))
    }

    @Test("A task does not time out while it waits for a network or for its reader")
    func paused() {
        var activity = SessionActivity(idle: .seconds(5), connecting: nil)
        let before = activity
        activity.isWaiting = true
        #expect(activity.timeLeft(at: .seconds(1_000)) == nil)
        #expect(activity != before)
        activity.note(at: .seconds(1_000))
        #expect(activity.timeLeft(at: .seconds(1_001)) == .seconds(4))
        activity.isHeldBack = true
        activity.note(at: .seconds(1_002))  // the upload continues
        #expect(activity.timeLeft(at: .seconds(2_000)) == nil)
        activity.isHeldBack = false
        #expect(activity.timeLeft(at: .seconds(1_003)) == .seconds(4))
    }

    @Test("The metrics of a task contain the times of its connection and the HTTP version")
    func metrics() {
        let start = Date(timeIntervalSince1970: 1_000)
        func after(_ seconds: Double) -> Date { start.addingTimeInterval(seconds) }
        var times = TransactionTimes(
            start: start, nameLookupEnd: after(0.25), connectEnd: after(0.75), tlsStart: after(0.5),
            tlsEnd: after(0.75),
            responseStart: after(1), responseEnd: after(2), protocolName: "h2")
        #expect(
            times.timing
                == HTTPResponse.Timing(
                    nameLookup: .milliseconds(250), connect: .milliseconds(500), tls: .milliseconds(750),
                    firstByte: .seconds(1), total: .seconds(2)))
        #expect(times.httpVersion == "2")
        (times.isReusedConnection, times.isSecure) = (true, true)
        #expect(times.timing.connect == .zero && times.timing.tls == .zero && times.timing.firstByte == .seconds(1))
        times.protocolName = "http/1.1"
        #expect(times.httpVersion == "1.1")
        times.protocolName = "h3"
        #expect(times.httpVersion == "3")
        #expect(TransactionTimes().timing == HTTPResponse.Timing())
        #expect(TransactionTimes().httpVersion == nil)
    }

    @Test("The error of a call that must not use the available network suggests how to allow the network")
    func restricted() {
        // Without a `networkUnavailableReason`, the kind is `notConnected`, because the call can succeed when the
        // network becomes reachable.
        #expect(NetworkError.Kind(URLError.Code.dataNotAllowed) == .notConnected)
        let error = NetworkError(.networkRestricted)
        #expect(error.recoverySuggestion?.contains("Low Data Mode") == true)
        #expect(error.kind.urlErrorCode == .notConnectedToInternet)
    }
}
