#if canImport(Darwin)
    public import Foundation
    import Security

    /// A store that saves the token in the keychain. The token is encrypted, stays on this device, and can be read once
    /// the device has been unlocked for the first time after a restart.
    ///
    /// ```swift
    /// let store = KeychainTokenStore(service: "com.example.app")
    /// let session = AccessTokenSupervisor(store: store) { old in try await signIn.refresh(old) }
    /// ```
    ///
    /// An app and its extensions share a token through an access group (the Keychain Sharing capability, or an app
    /// group). They also need a lease file in a folder that they share, so that only one process at a time refreshes
    /// the token:
    ///
    /// ```swift
    /// let group = "group.com.example"
    /// guard let shared = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else { … }
    /// let store = KeychainTokenStore(
    ///     service: "com.example.app", accessGroup: group, lease: shared.appending(path: "token.lease"))
    /// ```
    ///
    /// On a Mac, the program must be signed with an application identifier. Otherwise the keychain returns
    /// `errSecMissingEntitlement`.
    ///
    /// The store throws keychain errors as `NSError` in the domain `NSOSStatusErrorDomain`, with the keychain's status
    /// as the code, such as `errSecInteractionNotAllowed` before the first unlock. Such an error means that the
    /// keychain cannot be read now; the session continues. If the item is not a token, the store throws
    /// ``AccessToken/Undecodable``; the next log-in replaces the item, and the next log-out removes it.
    public struct KeychainTokenStore: AccessTokenStore {
        private let item: [String: String]
        private let lease: FileLease?

        /// Creates a store. The initializer does not read or write anything.
        ///
        /// - Parameters:
        ///   - service: The service of the item, such as the bundle identifier of the app.
        ///   - account: The account of the item, for an app with several sessions. Default: `access token`.
        ///   - accessGroup: The group that shares the item. Default: nil, the group of the app itself.
        ///   - lease: The lease file that the processes share. Nil if only this process refreshes.
        ///   - length: The duration of the lease. If a process is terminated during a refresh, the other processes
        ///     cannot refresh for this time. Default: 20 seconds.
        ///   - clock: The clock that measures the lease.
        public init(
            service: String, account: String = "access token", accessGroup: String? = nil, lease: URL? = nil,
            length: Duration = .seconds(20), clock: NetworkClock = .continuous
        ) {
            var item = [
                kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: service,
                kSecAttrAccount as String: account,
            ]
            item[kSecAttrAccessGroup as String] = accessGroup
            self.item = item
            self.lease = lease.map { FileLease(path: $0.path, length: length, clock: clock) }
        }

        /// Returns the attributes of the item as a query. On a Mac, the query uses the data protection keychain, as on
        /// iOS, instead of the file-based keychain.
        private func query(_ more: [String: Any] = [:]) -> CFDictionary {
            var query: [String: Any] = item
            query[kSecUseDataProtectionKeychain as String] = true
            return query.merging(more) { $1 } as CFDictionary
        }

        /// Reads the token from the item. Returns nil if there is no item.
        public func load() throws -> AccessToken? {
            var found: CFTypeRef?
            let more: [String: Any] = [
                kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne as String,
            ]
            let status = SecItemCopyMatching(query(more), &found)
            guard status != errSecItemNotFound else { return nil }
            guard status != errSecDecode else { throw AccessToken.Undecodable(fault(status)) }
            try check(status)
            guard let data = found as? Data else { throw AccessToken.Undecodable(fault(errSecDecode)) }
            return try AccessToken(stored: data)
        }

        /// Updates or adds the item, or removes it if there is no token. If processes share the item, each process
        /// holds the lock of the lease file while it compares the stored token and writes the new one.
        public func save(_ token: AccessToken?, replacing expected: AccessToken?) throws -> Bool {
            guard let lease else { return try replace(expected, with: token) }
            return try lease.locked { _ in try replace(expected, with: token) }
        }

        private func replace(_ expected: AccessToken?, with token: AccessToken?) throws -> Bool {
            let stored: AccessToken?
            do { stored = try load() } catch is AccessToken.Undecodable { stored = nil }
            guard stored == expected else { return false }
            try write(token)
            return true
        }

        private func write(_ token: AccessToken?) throws {
            guard let token else {
                let status = SecItemDelete(query())
                return try check(status == errSecItemNotFound ? errSecSuccess : status)
            }
            let values: [String: Any] = [
                kSecValueData as String: try JSONEncoder().encode(token),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
            ]
            var status = SecItemUpdate(query(), values as CFDictionary)
            if status == errSecDecode {  // the item is damaged, and is added again
                status = SecItemDelete(query()) == errSecSuccess ? errSecItemNotFound : status
            }
            if status == errSecItemNotFound { status = SecItemAdd(query(values), nil) }
            // Another process has added the item since the update failed.
            if status == errSecDuplicateItem { status = SecItemUpdate(query(), values as CFDictionary) }
            try check(status)
        }

        /// Waits for the lease, and holds it while the operation runs. If the store has no lease, runs the operation at
        /// once.
        public func exclusively<Value: Sendable>(_ operation: ExclusiveOperation<Value>) async throws -> Value {
            guard let lease else { return try await operation() }
            return try await lease.hold(operation)
        }

        private func check(_ status: OSStatus) throws {
            if status != errSecSuccess { throw fault(status) }
        }

        private func fault(_ status: OSStatus) -> NSError {
            let locked = "The keychain cannot be read now, because the device has not been unlocked yet."
            let isLocked = status == errSecInteractionNotAllowed
            return NSError(
                domain: NSOSStatusErrorDomain, code: Int(status),
                userInfo: isLocked ? [NSLocalizedDescriptionKey: locked] : [:])
        }
    }
#endif
