/// An SVG drawing of the load in each second. Each scenario has one chart.
struct FleetPlot {
    private static let colors = [
        "#9e9e9e", "#d62728", "#ff7f0e", "#bcbd22", "#17a2b8", "#1f77b4", "#9467bd", "#2ca02c",
    ]
    private static let size = (width: 900, height: 300)
    private let clients: Int
    private var charts: [String] = []

    init(clients: Int) {
        self.clients = clients
    }

    mutating func add(_ scenario: FleetScenario, _ outcomes: [FleetOutcome]) {
        // Loads above the top of the chart are cut off, so that the lower loads can be read.
        let top = min(max(outcomes.map { $0.peak(in: 0..<scenario.length) }.max() ?? 1, 2), 12)
        func x(_ second: Double) -> Double { 50 + second * 640 / Double(scenario.length) }
        func y(_ load: Double) -> Double { 250 - min(load, top) * 210 / top }
        let fault = scenario.seconds
        var parts = [
            rectangle(x(Double(fault.lowerBound)), 40, x(Double(fault.upperBound)) - x(Double(fault.lowerBound)), 210),
            text(50, 25, "\(scenario.name): load on the server, as a multiple of the normal load", size: 14),
        ]
        for load in stride(from: 0, through: top, by: max((top / 5).rounded(), 1)) {
            parts.append(line([(50, y(load)), (690, y(load))], "#dddddd"))
            parts.append(text(20, y(load) + 4, "\(Int(load))"))
        }
        for second in stride(from: 0, through: scenario.length, by: 10) {
            parts.append(text(x(Double(second)) - 6, 268, "\(second)"))
        }
        for (number, outcome) in outcomes.enumerated() {
            let color = FleetPlot.colors[number % FleetPlot.colors.count]
            let points = outcome.load.enumerated().map { second, load in
                (x(Double(second) + 0.5), y(Double(load) / Double(outcome.normal)))
            }
            parts.append(line(points, color, width: 1.5))
            parts.append(line([(710, 50 + Double(number) * 20), (730, 50 + Double(number) * 20)], color, width: 3))
            parts.append(text(736, 54 + Double(number) * 20, outcome.policy))
        }
        let group = "<g transform=\"translate(0 \(charts.count * FleetPlot.size.height + 30))\">"
        charts.append(([group] + parts + ["</g>"]).joined(separator: "\n"))
    }

    /// The text of the file.
    var svg: String {
        let height = charts.count * FleetPlot.size.height + 40
        let attributes =
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"\(FleetPlot.size.width)\" height=\"\(height)\" "
            + "font-family=\"sans-serif\" font-size=\"11\""
        return """
            <svg \(attributes)>
            <rect width="100%" height="100%" fill="white"/>
            \(text(50, 20, "\(clients.grouped) clients; each client makes three calls every ten seconds", size: 14))
            \(charts.joined(separator: "\n"))
            </svg>

            """
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> String {
        "<rect x=\"\(x.times)\" y=\"\(y.times)\" width=\"\(width.times)\" height=\"\(height.times)\" fill=\"#fdeeee\"/>"
    }

    private func line(_ points: [(Double, Double)], _ color: String, width: Double = 1) -> String {
        let text = points.map { "\($0.0.times),\($0.1.times)" }.joined(separator: " ")
        return "<polyline points=\"\(text)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"\(width)\"/>"
    }

    private func text(_ x: Double, _ y: Double, _ text: String, size: Int = 11) -> String {
        "<text x=\"\(x.times)\" y=\"\(y.times)\" font-size=\"\(size)\">\(text)</text>"
    }
}
