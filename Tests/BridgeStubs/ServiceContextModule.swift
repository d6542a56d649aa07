// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The signatures of swift-service-context that `Example/Bridges` uses: apple/swift-service-context 1.3.0,
// Sources/ServiceContextModule/ServiceContext.swift.

public struct ServiceContext: Sendable {
    public static var topLevel: ServiceContext { ServiceContext() }
    @TaskLocal public static var current: ServiceContext?
}
