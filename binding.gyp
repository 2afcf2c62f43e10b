{
  "targets": [
    {
      "target_name": "svc",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake",
          "inputs": ["<!@(find CMakeLists.txt CMakePresets.json native -type f)"],
          "outputs": ["<(PRODUCT_DIR)/svc.built"],
          "message": "CMakeLists.txt has the flags; this only calls its build",
          "action": ["node", "scripts/build.mjs", "--done", "<@(_outputs)"]
        }
      ]
    }
  ]
}
