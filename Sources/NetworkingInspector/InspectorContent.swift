import Foundation
import Networking

/// What the page shows, as JSON. All texts have passed the redaction.
struct InspectorContent: Encodable, Sendable {
    var isRevealed: Bool
    var calls: [Summary]
    var details: [Details]
    var notes: [Note]
    var parts: [Part]

    /// A line of the list.
    struct Summary: Encodable, Sendable {
        let number: Int
        let method: String
        let template: String
        /// The path of the URL, escaped; nil before the first attempt.
        let path: String?
        let endpoint: String
        /// `running`, `waiting`, `done`, `failed` or `cancelled`.
        let state: String
        /// Why the call waits, or how it ended.
        let reason: String?
        let status: Int?
        /// The kind of the error, if the call failed.
        let kind: String?
        /// `network`, `cache`, `revalidated` or `joined`.
        let source: String?
        /// The start, in milliseconds since 1970.
        let begun: Double
        /// The start of the wait in progress, in milliseconds since 1970.
        let waitsSince: Double?
        /// The duration in milliseconds; nil while the call runs.
        let duration: Double?
        let attempts: Int
        let received: Int64?
        let sent: Int64?
    }

    /// The details of a call that its line does not show.
    struct Details: Encodable, Sendable {
        let number: Int
        let id: String
        let url: String?
        let error: String?
        let attempts: [Attempt]
        let steps: [Step]
        /// The last request as a curl command; nil before the first attempt has ended.
        let curl: String?
        let messages: [Message]
        let omittedMessages: Int
        let omittedSteps: Int
    }

    struct Attempt: Encodable, Sendable {
        let number: Int
        /// The start, in milliseconds since the start of the call.
        let begun: Double
        let duration: Double?
        let outcome: String
        let decisions: [String]
        let phases: [Phase]
        let exchanges: [HARArchive.Entry]
    }

    /// A part of the time of an attempt, in milliseconds since the start of the call.
    struct Phase: Encodable, Sendable {
        let name: String
        let begun: Double
        let duration: Double
    }

    struct Step: Encodable, Sendable {
        /// In milliseconds since the start of the call.
        let time: Double
        let text: String
    }

    struct Message: Encodable, Sendable {
        let time: Double
        let isSent: Bool
        let text: String
    }

    struct Note: Encodable, Sendable {
        /// In milliseconds since 1970.
        let time: Double
        let part: String
        let text: String
        let isFault: Bool
    }

    /// What a part reports about itself.
    struct Part: Encodable, Hashable, Sendable {
        let name: String
        let kind: String
        let facts: [[String]]
    }
}

extension InspectorContent {
    /// Returns what the page shows of a record.
    init(_ record: InspectorLog.Changes, _ redaction: Redaction) {
        isRevealed = redaction.isRevealed
        calls = record.calls.map { Summary($0, redaction, record.queues) }
        details = record.calls.map { Details($0, redaction) }
        notes = (record.notes ?? []).map { Note($0) }
        parts = record.parts ?? []
    }
}

extension InspectorContent.Note {
    init(_ note: InspectorLog.Note) {
        (time, part, text) = (note.date.milliseconds, note.part.onOneLine, note.text.onOneLine)
        isFault = note.isFault
    }
}

extension Duration {
    var milliseconds: Double { (self / .microseconds(1)).rounded() / 1_000 }
}

extension Date {
    var milliseconds: Double { (timeIntervalSince1970 * 1_000).rounded() }
}
