// node run.mjs PYODIDE ARCHIVE... -- SCRIPT ARGUMENT...: runs a script in Pyodide, as a page does, with the archives' packages.
// What it prints comes out here; the exit status is 1 if it raises, or if the interpreter ends.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, ...rest] = process.argv.slice(2);
const archives = rest.slice(0, rest.indexOf("--"));
const [script, ...given] = rest.slice(rest.indexOf("--") + 1);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ env: { HOME: "/home/pyodide", TFRT_NB_CACHE: "" } });
for (const archive of archives) {
    python.unpackArchive(new Uint8Array(fs.readFileSync(archive)), "zip", { extractDir: "/packages" });
}
python.globals.set("given", python.toPy(given));
try {
    python.runPython("import sys; sys.path.append('/packages')");
    await python.runPythonAsync(fs.readFileSync(script, "utf8"));
    process.exit(0); // timers of the script may go on
} catch (problem) {
    console.error(problem.message);
    process.exit(1);
}
