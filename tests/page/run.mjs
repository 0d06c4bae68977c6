// Runs a script in Pyodide, as a page does, with the packages in the archives:
//
//     node run.mjs PYODIDE ARCHIVE... -- SCRIPT ARGUMENT...
//
// The script's output becomes this process's output.  The exit status is 1 if the script raises an exception or if the
// interpreter exits.
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
    process.exit(0); // without waiting for the script's timers
} catch (problem) {
    console.error(problem.message);
    process.exit(1);
}
