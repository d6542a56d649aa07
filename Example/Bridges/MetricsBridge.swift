import Metrics
import Networking

/// Counts and times calls with swift-metrics: `$0.observers = [MetricsObserver()]`.
///
/// The names are those of OpenTelemetry's conventions for HTTP clients. The route is the template of the path, such as
/// `/users/{}`, so that the number of time series does not grow with the number of users.
struct MetricsObserver: RequestObserver {
    func observe(_ event: RequestEvent, of call: RequestEvent.Call) {
        guard case .finished(let report) = event else { return }
        var dimensions = [
            ("http.request.method", "\(call.endpoint.method)"), ("http.route", call.endpoint.urlTemplate),
            ("http.response.status_code", report.status.map { "\($0.code)" } ?? "none"),
        ]
        if case .string(let type)? = report.attributes["error.type"] { dimensions.append(("error.type", type)) }
        let (seconds, attoseconds) = report.duration.components
        Timer(label: "http.client.request.duration", dimensions: dimensions)
            .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        if report.attempts.count > 1 {
            Counter(label: "http.client.resends", dimensions: dimensions).increment(by: report.attempts.count - 1)
        }
    }
}
