// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The signatures of swift-distributed-tracing that `Example/Bridges` uses: apple/swift-distributed-tracing 1.4.1,
// Sources/Instrumentation/Instrument.swift and InstrumentationSystem.swift.

public import ServiceContextModule

public protocol Injector: Sendable {
    associatedtype Carrier: Sendable
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol Instrument: Sendable {
    func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Inject.Carrier == Carrier
}

private struct NoInstrument: Instrument {
    func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Inject.Carrier == Carrier {}
}

public enum InstrumentationSystem {
    public static var instrument: any Instrument { NoInstrument() }
}
