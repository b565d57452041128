"""The guest's kernel: Debian's own, unpacked and not installed, and the small archive that it boots from."""

import fcntl
import lzma
import os
import pathlib
import platform
import shutil
import struct
import subprocess

# Modules for mounting the host's root; all other modules are loaded from there.
BOOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
LIMIT = 600  # seconds for a download
XZ_MAGIC = b"\xfd7zXZ\0"


class Missing(Exception):
    """A prerequisite of guests is missing on this machine; the text is one line."""


def _output(*command, **more):
    try:
        return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True,
                              timeout=LIMIT, env={**os.environ, "LC_ALL": "C"}, **more).stdout
    except FileNotFoundError:
        raise Missing(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Missing(f"{command[0]} did not end in {LIMIT} s") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or f"it ended with {error.returncode}").splitlines()[-1]
        raise Missing(f"{' '.join(str(word) for word in command[:3])}: {said}") from None


def _download(into):
    """The name of the package that linux-image-amd64 depends on; downloads it and returns its file."""
    for line in _output("apt-cache", "depends", "linux-image-amd64").splitlines():
        word, _, package = line.strip().partition(": ")
        if word == "Depends" and package.startswith("linux-image-"):
            _output("apt-get", "-qq", "download", package, cwd=into)
            return next(into.glob("*.deb"))
    raise Missing("apt knows no kernel below linux-image-amd64")


def _download_with_fresh_lists(into):
    """Updates the package lists, which may be missing or outdated."""
    try:
        return _download(into)
    except Missing:
        if os.geteuid() != 0:
            raise
    _output("apt-get", "-qq", "update")
    return _download(into)


def _uncompressed(image):
    """The ELF file inside a compressed kernel, which QEMU can start, too; None if it is not packed with xz.

    The guest would need more time to unpack the kernel than for the rest of its boot.
    """
    contents = image.read_bytes()
    setup_sectors = contents[0x1F1]
    start, length = struct.unpack_from("<II", contents, 0x248)  # position of the payload, relative to the setup code
    start += (setup_sectors + 1) * 512
    payload = contents[start:start + length]
    if not payload.startswith(XZ_MAGIC):
        return None
    return lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(payload)


class Kernel:
    """A kernel unpacked in the folder `root`, with its modules below as in a system."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.version = max(path.name for path in (self.root / "lib/modules").iterdir())
        plain = self.root / "vmlinux"
        self.image = plain if plain.exists() else self.root / f"boot/vmlinuz-{self.version}"

    @classmethod
    def fetch(cls, folder):
        """Uses the kernel in the folder. If there is none, downloads it (70 MB) and unpacks it (500 MB)."""
        if platform.machine() != "x86_64":
            raise Missing(f"guests are x86_64 machines, this one is {platform.machine()}")
        folder.mkdir(parents=True, exist_ok=True)
        root = folder / "kernel"
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not root.exists():
                cls._unpack(folder / "kernel.new").rename(root)  # only a complete kernel gets this name
        return cls(root)

    @classmethod
    def _unpack(cls, root):
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        package = _download_with_fresh_lists(root)
        _output("dpkg-deb", "-x", package, root)
        package.unlink()
        kernel = cls(root)
        _output("depmod", "-b", root, kernel.version)
        plain = _uncompressed(kernel.image)
        if plain is not None:
            (root / "vmlinux").write_bytes(plain)
        return root

    def _files_of(self, modules):
        """Files of these modules and of their dependencies, in the order of loading."""
        files = []
        for module in modules:
            for line in _output("modprobe", "-D", "-d", self.root, "-S", self.version, module).splitlines():
                word, file, *_ = line.split()
                if word == "insmod" and file not in files:
                    files.append(file)
        return [pathlib.Path(file) for file in files]

    def archive(self, folder, first_program):
        """Packs busybox, the modules and `first_program`, which becomes /init; returns the archive in `folder`."""
        busybox = shutil.which("busybox")
        if busybox is None:
            raise Missing("busybox is not installed")
        tree = folder / "archive"
        for name in ("bin", "modules", "proc", "root"):
            (tree / name).mkdir(parents=True)
        shutil.copy(busybox, tree / "bin/busybox")
        shutil.copy(first_program, tree / "init")
        for number, file in enumerate(self._files_of(BOOT_MODULES)):
            shutil.copy(file, tree / f"modules/{number:02}-{file.name}")
        packed = folder / "archive.cpio"
        names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
        _output("cpio", "-o", "-H", "newc", "--quiet", "-F", packed, input=names, cwd=tree)
        shutil.rmtree(tree)
        return packed
