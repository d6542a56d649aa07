// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "Networking",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Networking", targets: ["Networking"]),
        .library(name: "NetworkingInspector", targets: ["NetworkingInspector"]),
        .library(name: "NetworkingOutbox", targets: ["NetworkingOutbox"]),
        .library(name: "NetworkingTesting", targets: ["NetworkingTesting"]),
    ],
    targets: [
        .target(name: "CLibcurl"),
        .target(
            name: "Networking",
            dependencies: [.target(name: "CLibcurl", condition: .when(platforms: [.linux]))],
            resources: [.copy("PrivacyInfo.xcprivacy")],
            swiftSettings: settings),
        .target(
            name: "NetworkingInspector",
            dependencies: ["Networking", "NetworkingServer"],
            resources: [
                .embedInCode("Page/inspector.html"), .embedInCode("Page/inspector.css"),
                .embedInCode("Page/inspector.js"),
            ],
            swiftSettings: settings),
        .target(name: "NetworkingOutbox", dependencies: ["Networking"], swiftSettings: settings),
        // The server on 127.0.0.1 that the products have in common.
        .target(name: "NetworkingServer", dependencies: ["Networking"], swiftSettings: settings),
        .target(
            name: "NetworkingTesting", dependencies: ["Networking", "NetworkingServer"], swiftSettings: settings),
        .executableTarget(
            name: "NetworkingBenchmarks",
            dependencies: [
                "Networking", "NetworkingInspector", "NetworkingOutbox", "NetworkingTesting",
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "NetworkingProof",
            dependencies: [
                "Networking", "NetworkingOutbox", "NetworkingTesting", "NetworkingFuzzTargets", "ExampleEtcd",
            ],
            swiftSettings: settings),
        // The code that the fuzzer and the proof share. It is a separate target, because an executable cannot depend on
        // another executable.
        .target(
            name: "NetworkingFuzzTargets",
            dependencies: ["Networking", "NetworkingOutbox", "NetworkingServer", "NetworkingTesting"],
            exclude: ["Corpus"],
            swiftSettings: settings),
        // A separate target, because the runtime of the fuzzer contains `main`.
        .executableTarget(name: "NetworkingFuzz", dependencies: ["NetworkingFuzzTargets"], swiftSettings: settings),
        .executableTarget(
            name: "Example",
            dependencies: ["Networking", "NetworkingInspector", "NetworkingOutbox", "NetworkingTesting"],
            path: "Example",
            exclude: ["Bridges", "Etcd"],  // the bridges need other packages
            swiftSettings: settings),
        // A part of the example that the proof uses, too.
        .target(name: "ExampleEtcd", dependencies: ["Networking"], path: "Example/Etcd", swiftSettings: settings),
        .testTarget(
            name: "NetworkingTests",
            dependencies: [
                "Networking", "NetworkingInspector", "NetworkingOutbox", "NetworkingServer", "NetworkingTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LoopbackTests",
            dependencies: [
                "Networking", "NetworkingInspector", "NetworkingOutbox", "NetworkingServer", "NetworkingTesting",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
