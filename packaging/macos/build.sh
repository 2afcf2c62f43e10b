#!/bin/sh
# Makes packaging/out/svc-VERSION.pkg on a Mac; see README.md beside it.
set -eu
cd "$(dirname "$0")/../.."

[ "$(uname -s)" = Darwin ] || { echo 'the macOS package is made on a Mac' >&2; exit 1; }
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
here=packaging/macos
out=packaging/out
tree=$out/tree-svc-macos
stage=$out/macos
identity=${SVC_CODESIGN_IDENTITY:-}
installer_identity=${SVC_INSTALLER_IDENTITY:-}
notary_profile=${SVC_NOTARY_PROFILE:-}

node scripts/build.mjs --preset macos
node scripts/build.mjs --web
npm run --silent package -- tree --macos

# The system's own folders are closed to packages.
rm -rf "$stage"
mkdir -p "$stage/root/usr/local/bin" "$stage/root/usr/local/share" "$stage/root/Library/LaunchDaemons" "$stage/scripts"
mkdir -p "$stage/root/usr/local/lib"
cp -R "$tree/usr/lib64/svc" "$stage/root/usr/local/lib/svc"
cp -R "$tree/usr/share/doc" "$tree/usr/share/licenses" "$tree/usr/share/man" "$stage/root/usr/local/share/"
cp "$tree/etc/svc/svc.toml" "$stage/root/usr/local/lib/svc/svc.toml.example"
install -m 0755 "$here/svc.sh" "$stage/root/usr/local/bin/svc"
install -m 0755 "$here/uninstall.sh" "$stage/root/usr/local/lib/svc/uninstall.sh"
install -m 0644 "$here/svc.plist" "$stage/root/Library/LaunchDaemons/svc.plist"
install -m 0755 "$here/postinstall" "$stage/scripts/postinstall"

if [ -n "$identity" ]; then
  # Libraries first: a signature covers what a program contains.
  find "$stage/root/usr/local/lib/svc" -type f \( -name '*.dylib' -o -name '*.so' -o -name '*.node' \) -exec \
    codesign --force --timestamp --options runtime --sign "$identity" {} \;
  codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" --sign "$identity" \
    "$stage/root/usr/local/lib/svc/bin/node"
else
  echo 'SVC_CODESIGN_IDENTITY is not set: the program stays unsigned' >&2
fi

pkgbuild --root "$stage/root" --scripts "$stage/scripts" --identifier svc --version "$version" --ownership recommended "$stage/svc.pkg"
package=$out/svc-$version.pkg
if [ -n "$installer_identity" ]; then
  productbuild --package "$stage/svc.pkg" --identifier svc --version "$version" --timestamp --sign "$installer_identity" "$package"
  pkgutil --check-signature "$package"
else
  productbuild --package "$stage/svc.pkg" --identifier svc --version "$version" "$package"
  echo 'SVC_INSTALLER_IDENTITY is not set: the package stays unsigned' >&2
fi

if [ -n "$notary_profile" ]; then
  xcrun notarytool submit "$package" --keychain-profile "$notary_profile" --wait
  xcrun stapler staple "$package"
  spctl --assess --type install --verbose "$package"
fi
echo "$package"
